import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { byWebSocket, startNode, startServerProcess, type NodeKind, type Started } from '../processes.ts'
import { startCallers, type Acknowledged } from './callers.ts'
import { auditFromOutside, checkLedger, waitUntilSettled, type LedgerCheck, type LedgerLocation } from './audit.ts'
import type { PostgresServer } from '../postgres.ts'
import { bundling, provisionWorld, type RelayWorld } from '../relay-world.ts'

export interface CrashOptions {
  readonly node: NodeKind
  /** Null: the embedded database, in a folder. */
  readonly databaseUrl: string | null
  /** How often a server is killed. */
  readonly kills: number
  /** The database server, and how often it is killed and started again in the course of the test. Absent: never. */
  readonly database?: { readonly postgres: Pick<PostgresServer, 'kill' | 'start'>; readonly kills: number }
  /** Server processes on the one database; they are killed in turn. Default 1. */
  readonly servers?: number
  readonly workers?: number
  /** Whether calls share transactions. The servers then have one signer. */
  readonly bundles?: boolean
  /** A server that has accepted some calls lives for a random time up to this one before it is killed. Default 1,000. */
  readonly lifeMs?: number
  readonly onProgress?: (line: string) => void
}

export interface CrashResult extends LedgerCheck {
  readonly acknowledged: number
  readonly unanswered: number
  readonly refusals: Readonly<Record<string, number>>
  readonly seconds: number
}

/** Calls that a server accepts before its life can end. A slow machine then kills under load, too. */
const CALLS_A_LIFE = 4

/** Calls that the other servers accept before a frozen server goes on. They never come when it holds what the others need. */
const CALLS_A_FREEZE = 21

/** Whether one of `events` events belongs to the kill with this number, when they are spread evenly over `kills` kills. */
const isTurn = (kill: number, kills: number, events: number) =>
  Math.floor(((kill + 1) * events) / kills) > Math.floor((kill * events) / kills)

/**
 * Kills servers (SIGKILL) at random moments under load, and starts each one again. Compares the ledger with the chain at the
 * end.
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
        // With the embedded database the server asks the node over HTTP, otherwise over a WebSocket: both are tried.
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
      await callers.more(CALLS_A_LIFE)
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
    await callers.more(CALLS_A_LIFE)
    await callers.finish()
    const location = { url: databaseUrl, folder: join(folder, 'ledger') }
    return {
      ...(await endAndAudit(world, running, location, callers.acknowledged)),
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

export interface FreezeOptions {
  readonly node: NodeKind
  readonly databaseUrl: string
  /** Server processes on the one database. Default 3. */
  readonly servers?: number
  /** How often a server stands still (SIGSTOP); the servers take turns. */
  readonly freezes: number
  /** How long a server stands still each time, at least. */
  readonly frozenMs: number
  readonly workers?: number
  /** The pause of a worker between two calls; absent: 0. */
  readonly pauseMs?: number
}

export interface FreezeResult extends LedgerCheck {
  readonly acknowledged: number
  /** The fewest calls that were acknowledged in the second half of a freeze. */
  readonly fewestWhileFrozen: number
  /** The longest wait of a caller for an answer of a server that was not frozen. */
  readonly slowestMs: number
  readonly refusals: Readonly<Record<string, number>>
}

/**
 * Starts several servers with the same signers on one PostgreSQL, under load. One server after the other is stopped for a
 * while (SIGSTOP) and keeps the locks and connections that it has. Its clients wait, and the other servers serve theirs.
 * Compares the ledger with the chain at the end.
 */
export async function runFreezeTest(options: FreezeOptions): Promise<FreezeResult> {
  const { databaseUrl, freezes, frozenMs, servers = 3, workers = 18, pauseMs = 0 } = options
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
      pauseMs,
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
      await Promise.all([sleep(frozenMs / 2), callers.more(CALLS_A_FREEZE)])
      fewestWhileFrozen = Math.min(fewestWhileFrozen, callers.acknowledged.length - before)
      if (frozen) process.kill(frozen.pid, 'SIGCONT')
    }
    await sleep(500)
    await callers.finish()
    const { acknowledged, refusals } = callers
    const ledger = await endAndAudit(world, running, { url: databaseUrl, folder: null }, acknowledged)
    return { ...ledger, acknowledged: acknowledged.length, fewestWhileFrozen, slowestMs, refusals }
  } finally {
    for (const server of running) await server.kill()
    await node.close()
  }
}

export interface SharingOptions {
  readonly node: NodeKind
  readonly databaseUrl: string
  /** Calls of all workers together. */
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

/**
 * Starts two servers with the same signers on one PostgreSQL. One of them may be killed midway. Compares the ledger with the
 * chain at the end.
 */
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
      // The calls of a channel go to both servers in turn, so each server must know what the other one has stored.
      url: (worker, id, acknowledged) => {
        if (killAfter !== undefined && acknowledged >= killAfter) killed ??= second.kill()
        return killed === undefined && (worker + id) % 2 === 0 ? second.url : first.url
      },
    })
    await callers.finish()
    const seconds = (performance.now() - begun) / 1000
    await killed
    const { acknowledged, refusals } = callers
    const ledger = await endAndAudit(world, running, { url: databaseUrl, folder: null }, acknowledged)
    return { ...ledger, acknowledged: acknowledged.length, refusals, callsPerSecond: acknowledged.length / seconds }
  } finally {
    for (const server of running) await server.kill()
    await node.close()
  }
}

const SETTLE_DEADLINE_MS = 60_000

/**
 * Waits until no call is under way, audits the first server by the chain and by HTTP, ends all servers, and compares their
 * ledger with the chain.
 *
 * @param running servers on the one ledger; empty afterwards
 * @throws Error when calls are still pending after a minute
 */
async function endAndAudit(
  world: RelayWorld,
  running: Started[],
  location: LedgerLocation,
  acknowledged: readonly Acknowledged[],
): Promise<LedgerCheck> {
  const [first] = running
  if (first) await waitUntilSettled(first.url, SETTLE_DEADLINE_MS)
  const outside = first && (await auditFromOutside(world, first.url, acknowledged))
  for (const server of running.splice(0)) await server.close()
  const ledger = await checkLedger(world, location, acknowledged)
  return { ...ledger, faults: [...ledger.faults, ...(outside?.faults ?? [])] }
}
