import { setTimeout as sleep } from 'node:timers/promises'
import { byWebSocket, startNode, startServerProcess, type NodeKind, type Started } from '../processes.ts'
import { startCallers } from './callers.ts'
import { checkLedger, waitUntilSettled, type LedgerCheck } from './invariants.ts'
import { auditFromOutside } from './outside-audit.ts'
import { provisionWorld } from '../relay-world.ts'

export interface FreezeOptions {
  readonly node: NodeKind
  readonly databaseUrl: string
  /** Server processes on the one database. Default 3. */
  readonly servers?: number
  /** How often one of them stands still (SIGSTOP), in turn. */
  readonly freezes: number
  /** For how long. */
  readonly frozenMs: number
  readonly workers?: number
}

export interface FreezeResult extends LedgerCheck {
  readonly acknowledged: number
  /** The fewest calls that were acknowledged in the second half of a freeze. */
  readonly fewestWhileFrozen: number
  /** The longest that a caller of another server than the frozen one has waited for an answer. */
  readonly slowestMs: number
  readonly refusals: Readonly<Record<string, number>>
}

const SETTLE_DEADLINE_MS = 60_000

/**
 * Several servers with the same signers on one PostgreSQL. Under load one of them stands still, with what it holds, and goes
 * on later; its clients wait, the others are served. Compares the ledger with the chain in the end.
 */
export async function runFreezeTest(options: FreezeOptions): Promise<FreezeResult> {
  const { databaseUrl, freezes, frozenMs, servers = 3, workers = 18 } = options
  const node = await startNode(options.node)
  const running: Started[] = []
  try {
    const world = await provisionWorld(node.url)
    const start = () => startServerProcess({ rpcUrl: byWebSocket(node.url), signerKeys: world.signerKeys, databaseUrl })
    running.push(...(await Promise.all(Array.from({ length: servers }, start))))
    let frozen: Started | undefined
    let slowestMs = 0
    const callers = startCallers({
      world,
      workers,
      firstChannel: 1_000n,
      url: (worker) => running[worker % servers]?.url ?? '',
      onAnswer: (url, ms) => {
        if (frozen && url !== frozen.url) slowestMs = Math.max(slowestMs, ms)
      },
    })
    let fewestWhileFrozen = Infinity
    for (let freeze = 0; freeze < freezes; freeze++) {
      await sleep(500 + Math.random() * 500)
      frozen = running[freeze % servers]
      if (frozen) process.kill(frozen.pid, 'SIGSTOP')
      await sleep(frozenMs / 2)
      const before = callers.acknowledged.length
      await sleep(frozenMs / 2)
      fewestWhileFrozen = Math.min(fewestWhileFrozen, callers.acknowledged.length - before)
      if (frozen) process.kill(frozen.pid, 'SIGCONT')
    }
    await sleep(500)
    await callers.finish()
    const [first] = running
    if (first) await waitUntilSettled(first.url, SETTLE_DEADLINE_MS)
    const outside = first && (await auditFromOutside(world, first.url, callers.acknowledged))
    for (const server of running.splice(0)) await server.close()
    const { acknowledged, refusals } = callers
    const ledger = await checkLedger(world, { url: databaseUrl, folder: null }, acknowledged)
    const faults = [...ledger.faults, ...(outside?.faults ?? [])]
    return { ...ledger, faults, acknowledged: acknowledged.length, fewestWhileFrozen, slowestMs, refusals }
  } finally {
    for (const server of running) await server.kill()
    await node.close()
  }
}
