import { byWebSocket, startNode, startServerProcess, type NodeKind, type Started } from '../../../testbed/processes.ts'
import { type Aim, median } from '../support/figures.ts'
import { waitUntilSettled } from '../../../testbed/trials/audit.ts'
import { type LoadResult, runLoad, countedBy, runUntilMined } from '../support/load.ts'
import { bundling, provisionWorld, createPoster, signedCall } from '../../../testbed/relay-world.ts'
import { createSenders, runFloor, createLoadNonces, runRelays } from './loads.ts'

export interface ThroughputOptions {
  readonly inFlight: readonly number[]
  readonly calls: number
  readonly rounds: number
  /** A PostgreSQL database for each server; absent: the embedded one. */
  readonly createDatabase?: () => Promise<string>
  /** Whether calls share transactions; the floor's do not. */
  readonly bundles?: boolean
  /** The core that the nodes have for themselves; absent: they share all cores with the other processes. */
  readonly core: number | undefined
}

/** The number in flight for which the aim is set. */
const AIM_IN_FLIGHT = 20
const FLOOR_SHARE = 0.8
/** The number in flight with bundles, at which many calls wait. */
const BUNDLES_IN_FLIGHT = 100
const BUNDLES_SHARE = 1.5

/** The most calls of a round. On anvil each call needs a channel and an account, and more of them make its blocks slower. */
const MAX_CALLS: Readonly<Record<NodeKind, number>> = { hardhat: Infinity, anvil: 600 }
/** After some thousand calls V8 has compiled the server's code. */
const WARM_UP_ROUNDS = 4
const WARM_UP_WORKERS = 20
const SETTLED_WITHIN_MS = 60_000

/** The results of a round, for one number in flight. */
interface Round {
  readonly floor: LoadResult
  readonly relays: LoadResult
}

/**
 * Measures relays per second through `POST /execute`, and compares them with the floor. Both ask the node by WebSocket, which
 * takes half the time of HTTP. Both are timed until all calls are mined, because anvil answers before it mines and falls
 * behind. Each has a chain of its own with the same calls, because a block takes longer when the state is larger.
 *
 * They take turns of a few seconds, because a shared machine may be twice as fast a minute later.
 */
export async function measureThroughput(kind: NodeKind, options: ThroughputOptions): Promise<Aim[]> {
  const { inFlight, createDatabase, core, bundles = false } = options
  const calls = Math.min(options.calls, MAX_CALLS[kind])
  // Short rounds are repeated, so that every node gets as many calls.
  const roundsEach = Math.ceil(options.calls / calls)
  const rounds = options.rounds * roundsEach
  const started: Started[] = []
  const start = async (starting: Promise<Started>) => {
    const one = await starting
    started.unshift(one)
    return one.url
  }
  try {
    const floor = await provisionWorld(await start(startNode(kind, { core })))
    const world = await provisionWorld(await start(startNode(kind, { core })))
    const databaseUrl = await createDatabase?.()
    const url = await start(
      startServerProcess({
        rpcUrl: byWebSocket(world.rpcUrl),
        signerKeys: world.signerKeys,
        ...(bundles && { config: bundling(world) }),
        ...(databaseUrl !== undefined && { databaseUrl }),
      }),
    )
    // So many senders that no worker waits for the nonce of another worker. anvil loses a transaction that arrives while it
    // mines the one before of the same account. So there no sender has a second transaction in a round.
    const count = kind === 'anvil' ? Math.max(calls, ...inFlight) : Math.max(WARM_UP_WORKERS, ...inFlight)
    const senders = await createSenders(floor, count)
    // Only the floor needs the senders, but both chains get them, so that their states are alike.
    await createSenders(world, count)
    const [floorNonces, relayNonces] = [createLoadNonces(), createLoadNonces()]
    const measure = async (workers: number, tasks: number): Promise<Round> => {
      const load = { workers, tasks }
      const round = {
        floor: await runFloor(floor, senders, floorNonces, load),
        relays: await runRelays(world, url, relayNonces, load, bundles),
      }
      // Otherwise work that the server has still to do would take time from the floor.
      await waitUntilSettled(url, SETTLED_WITHIN_MS)
      return round
    }
    for (let round = 0; round < WARM_UP_ROUNDS * roundsEach; round++) await measure(WARM_UP_WORKERS, calls)
    const aims: Aim[] = []
    for (const workers of inFlight) {
      const found: Round[] = []
      // With one in flight a call takes several times as long, so there are fewer.
      const tasks = workers === 1 ? Math.ceil(calls / 4) : calls
      while (found.length < rounds) found.push(await measure(workers, tasks))
      aims.push(...report(kind, options, workers, found))
    }
    return aims
  } finally {
    for (const one of started) await one.close()
  }
}

function report(
  kind: NodeKind,
  { createDatabase, bundles = false }: ThroughputOptions,
  workers: number,
  rounds: readonly Round[],
): Aim[] {
  const database = createDatabase ? 'PostgreSQL' : 'PGlite'
  const share = median(rounds.map(({ floor, relays }) => relays.perSecond / floor.perSecond))
  const failed = rounds.reduce((sum, { floor, relays }) => sum + floor.failed + relays.failed, 0)
  const what = bundles ? `${kind}, bundles` : kind
  console.log(row([what, database, workers], rounds, share, failed))
  for (const { floor, relays } of rounds) {
    for (const [reason, count] of Object.entries({ ...floor.failures, ...relays.failures }).slice(0, 3)) {
      console.log(`  ${count} x ${reason.slice(0, 160)}`)
    }
  }
  const name = `${what}, ${database}, ${workers} in flight`
  const [aimInFlight, atLeast] = bundles ? [BUNDLES_IN_FLIGHT, BUNDLES_SHARE] : [AIM_IN_FLIGHT, FLOOR_SHARE]
  return [
    ...(workers === aimInFlight ? [{ name: `${name}: of the floor`, value: share, atLeast }] : []),
    { name: `${name}: calls that failed`, value: failed, atMost: 0 },
  ]
}

export const tableHead = `| node | database | in flight | floor/s | relays/s | of the floor | p50 ms | p99 ms | failed |
|---|---|---|---|---|---|---|---|---|`

function row(of: readonly (string | number)[], rounds: readonly Round[], share: number, failed: number): string {
  const middle = (figure: (round: Round) => number) => median(rounds.map(figure))
  const cells = [
    ...of,
    middle(({ floor }) => floor.perSecond).toFixed(0),
    middle(({ relays }) => relays.perSecond).toFixed(0),
    share.toFixed(2),
    middle(({ relays }) => relays.p50Ms).toFixed(1),
    middle(({ relays }) => relays.p99Ms).toFixed(1),
    failed,
  ]
  return `| ${cells.join(' | ')} |`
}

const CHANNELS = 100
const CALLS_EACH = 10

/**
 * Measures 100 channels at once on a chain with one block in a second. Each channel sends 10 calls one after the other, and no
 * call may wait for a block.
 */
export async function measureBlocks(kind: NodeKind): Promise<Aim[]> {
  const node = await startNode(kind, { blockTimeSeconds: 1 })
  try {
    const world = await provisionWorld(node.url)
    const server = await startServerProcess({ rpcUrl: node.url, signerKeys: world.signerKeys })
    try {
      const bodies = Array.from({ length: CHANNELS }, (_, channel) =>
        Array.from({ length: CALLS_EACH }, (_, id) => signedCall(world, BigInt(1_000 + channel), BigInt(id)).body),
      )
      const hashes: string[] = []
      const relay = createPoster(server.url, CHANNELS)
      const send = async (channel: number, id: number) => {
        const { transactionHash } = await relay.execute(bodies[channel]?.[id] ?? '')
        hashes.push(String(transactionHash))
      }
      const load = { workers: CHANNELS, tasks: CHANNELS * CALLS_EACH }
      const result = await runUntilMined(node.url, () => runLoad(load, send), countedBy(world.signers))
      await relay.close()
      console.log(
        `\n${kind}, a block per second: ${result.done} of ${CHANNELS * CALLS_EACH} calls on ${CHANNELS} channels answered ` +
          `(p50 ${result.p50Ms.toFixed(0)} ms, p99 ${result.p99Ms.toFixed(0)} ms) and mined in ${result.seconds.toFixed(1)} s`,
      )
      for (const [reason, count] of Object.entries(result.failures).slice(0, 3)) console.log(`  ${count} x ${reason}`)
      return [
        { name: `${kind}, a block per second: calls refused`, value: result.failed, atMost: 0 },
        { name: `${kind}, a block per second: different hashes`, value: new Set(hashes).size, atLeast: hashes.length },
      ]
    } finally {
      await server.close()
    }
  } finally {
    await node.close()
  }
}
