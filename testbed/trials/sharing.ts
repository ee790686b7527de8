import { byWebSocket, startNode, startServerProcess, type NodeKind, type Started } from '../processes.ts'
import { startCallers } from './callers.ts'
import { checkLedger, waitUntilSettled, type LedgerCheck } from './invariants.ts'
import { auditFromOutside } from './outside-audit.ts'
import { bundling, provisionWorld } from '../relay-world.ts'

export interface SharingOptions {
  readonly node: NodeKind
  readonly databaseUrl: string
  /** In all. */
  readonly calls: number
  readonly workers?: number
  /** Whether calls share transactions. */
  readonly bundles?: boolean
  /** Kills one of the two servers (SIGKILL) when so many calls are acknowledged; absent: none. */
  readonly killAfter?: number
}

export interface SharingResult extends LedgerCheck {
  readonly acknowledged: number
  readonly refusals: Readonly<Record<string, number>>
  readonly callsPerSecond: number
}

const SETTLE_DEADLINE_MS = 60_000

/** Two servers with the same signers on one PostgreSQL; one may be killed midway. Compares the ledger with the chain. */
export async function runSharingTest(options: SharingOptions): Promise<SharingResult> {
  const { databaseUrl, calls, workers = 20, killAfter, bundles = false } = options
  const node = await startNode(options.node)
  const running: Started[] = []
  try {
    const world = await provisionWorld(node.url)
    const rpcUrl = byWebSocket(node.url)
    const start = () =>
      startServerProcess({
        rpcUrl,
        signerKeys: world.signerKeys,
        databaseUrl,
        config: bundles ? bundling(world) : {},
      })
    const [first, second] = await Promise.all([start(), start()])
    running.push(first, second)
    let killed: Promise<void> | undefined
    const begun = performance.now()
    const callers = startCallers({
      world,
      workers,
      firstChannel: 1_000n,
      callsEach: Math.ceil(calls / workers),
      // Each channel's calls come to both in turn: what one has stored, the other must know.
      url: (worker, id, acknowledged) => {
        if (killAfter !== undefined && acknowledged >= killAfter) killed ??= second.kill()
        return killed === undefined && (worker + id) % 2 === 0 ? second.url : first.url
      },
    })
    await callers.finish()
    const seconds = (performance.now() - begun) / 1000
    await killed
    await waitUntilSettled(first.url, SETTLE_DEADLINE_MS)
    const outside = await auditFromOutside(world, first.url, callers.acknowledged)
    for (const server of running.splice(0)) await server.close()
    const { acknowledged, refusals } = callers
    const ledger = await checkLedger(world, { url: databaseUrl, folder: null }, acknowledged)
    return {
      ...ledger,
      faults: [...ledger.faults, ...outside.faults],
      acknowledged: acknowledged.length,
      refusals,
      callsPerSecond: acknowledged.length / seconds,
    }
  } finally {
    for (const server of running) await server.kill()
    await node.close()
  }
}
