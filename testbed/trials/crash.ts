import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { byWebSocket, startNode, startServerProcess, type NodeKind, type Started } from '../processes.ts'
import { startCallers } from './callers.ts'
import { checkLedger, waitUntilSettled, type LedgerCheck } from './invariants.ts'
import { auditFromOutside } from './outside-audit.ts'
import type { PostgresServer } from '../postgres.ts'
import { bundling, provisionWorld } from '../relay-world.ts'

export interface CrashOptions {
  readonly node: NodeKind
  /** Null: the embedded database, in a folder. */
  readonly databaseUrl: string | null
  /** How often a server is killed. */
  readonly kills: number
  /** The database server, which is killed and started again so many times between. Absent: never. */
  readonly database?: { readonly postgres: Pick<PostgresServer, 'kill' | 'start'>; readonly kills: number }
  /** Server processes on the one database; they are killed in turn. Default 1. */
  readonly servers?: number
  readonly workers?: number
  /** Whether calls share transactions, of one signer. */
  readonly bundles?: boolean
  /** A server lives for a random time up to this one before it is killed. Default 1,000. */
  readonly lifeMs?: number
  readonly onProgress?: (line: string) => void
}

export interface CrashResult extends LedgerCheck {
  readonly acknowledged: number
  readonly unanswered: number
  readonly refusals: Readonly<Record<string, number>>
  readonly seconds: number
}

const SETTLE_DEADLINE_MS = 60_000

/** Whether one of so many events falls on this one of so many kills, so that they are spread evenly. */
const isTurn = (kill: number, kills: number, events: number) =>
  Math.floor(((kill + 1) * events) / kills) > Math.floor((kill * events) / kills)

/**
 * Kills servers (SIGKILL) at random moments under load and starts them again each time; then compares the ledger with
 * the chain.
 */
export async function runCrashTest(options: CrashOptions): Promise<CrashResult> {
  const {
    kills,
    database,
    servers = 1,
    workers = 8,
    lifeMs = 1_000,
    databaseUrl,
    bundles = false,
    onProgress = () => {},
  } = options
  const begun = performance.now()
  const folder = await mkdtemp(join(tmpdir(), 'touchstone-crash-'))
  const node = await startNode(options.node)
  const running: Started[] = []
  try {
    const world = await provisionWorld(node.url)
    const start = (): Promise<Started> =>
      startServerProcess({
        // Both ways to the node are cut off.
        rpcUrl: databaseUrl === null ? node.url : byWebSocket(node.url),
        signerKeys: bundles ? world.signerKeys.slice(0, 1) : world.signerKeys,
        config: { database: { folder: join(folder, 'ledger') }, ...(bundles && bundling(world)) },
        ...(databaseUrl !== null && { databaseUrl }),
      })
    running.push(...(await Promise.all(Array.from({ length: servers }, start))))
    const callers = startCallers({
      world,
      workers,
      firstChannel: 1_000n,
      url: (worker) => running[worker % running.length]?.url ?? '',
    })
    for (let kill = 0; kill < kills; kill++) {
      await sleep(Math.random() * lifeMs)
      if (database && isTurn(kill, kills, database.kills)) {
        await database.postgres.kill()
        await sleep(Math.random() * lifeMs)
        await database.postgres.start()
        await sleep(Math.random() * lifeMs)
      }
      const victim = kill % servers
      await running[victim]?.kill()
      running[victim] = await start()
      onProgress(`killed ${kill + 1} of ${kills}, ${callers.acknowledged.length} calls acknowledged`)
    }
    await sleep(lifeMs / 2)
    await callers.finish()
    const [first] = running
    if (first) await waitUntilSettled(first.url, SETTLE_DEADLINE_MS)
    const outside = first && (await auditFromOutside(world, first.url, callers.acknowledged))
    for (const server of running.splice(0)) await server.close()
    const location = { url: databaseUrl, folder: join(folder, 'ledger') }
    const ledger = await checkLedger(world, location, callers.acknowledged)
    return {
      ...ledger,
      faults: [...ledger.faults, ...(outside?.faults ?? [])],
      acknowledged: callers.acknowledged.length,
      unanswered: callers.unanswered,
      refusals: callers.refusals,
      seconds: (performance.now() - begun) / 1000,
    }
  } finally {
    for (const server of running) await server.kill()
    await node.close()
    await rm(folder, { recursive: true, force: true })
  }
}
