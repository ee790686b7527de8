import { keccak256, toQuantity, toUtf8Bytes } from 'ethers'
import { byWebSocket } from '../../../contracts/by-websocket.ts'
import { signerFromKey } from '../../../server/services/signers/signer-account.ts'
import type { Aim } from '../support/aim.ts'
import { runLoad, type LoadResult } from '../support/load.ts'
import { runUntilMined } from '../support/mined.ts'
import { startNode, startServerProcess, type NodeKind } from '../support/processes.ts'
import { createPoster, provisionWorld, signedCall, type RelayWorld } from '../support/relay-world.ts'
import { createRpcClient, median, rpcBody } from '../support/rpc.ts'
import { openRpcSocket } from '../support/rpc-socket.ts'

export interface ThroughputOptions {
  readonly inFlight: readonly number[]
  readonly calls: number
  readonly rounds: number
  /** A PostgreSQL database for each server; absent: the embedded one. */
  readonly createDatabase?: () => Promise<string>
}

/** Every floor worker sends from an account of its own: nobody waits for another one's nonce. */
const FLOOR_GAS_LIMIT = 200_000n
const FEES = { type: 2, maxFeePerGas: 10n ** 10n, maxPriorityFeePerGas: 10n ** 9n } as const
/** The aim is set for so many in flight. */
const AIM_IN_FLIGHT = 20
const FLOOR_SHARE = 0.8

/** What runs on one chain, from its first block on, the same for both ways. */
interface Course {
  readonly warmUp: number
  /** The most calls with one number in flight. */
  readonly calls: number
  /** Whether the next numbers in flight follow on the same chain. */
  readonly continues: boolean
}

/**
 * It takes some thousand calls until V8 has compiled a server for good. anvil's blocks take longer with each one, and
 * after some 1,000 it may stand still.
 */
const courses: Readonly<Record<NodeKind, Course>> = {
  hardhat: { warmUp: 5_000, calls: Infinity, continues: true },
  anvil: { warmUp: 600, calls: 600, continues: false },
}
const WARM_UP_WORKERS = 20

/**
 * Relays per second through `POST /execute`, beside the floor: an eth_call and an eth_sendRawTransaction each. Both ask
 * the node by WebSocket, which takes half of what HTTP does. Both are timed until all is mined: anvil answers before it mines, and falls behind. Each has a chain of its own and does as much
 * on it before, since a block costs a node more the more its state holds.
 */
export async function measureThroughput(kind: NodeKind, options: ThroughputOptions): Promise<Aim[]> {
  const { inFlight } = options
  const stretches = courses[kind].continues ? [inFlight] : inFlight.map((workers) => [workers])
  const aims: Aim[] = []
  for (const stretch of stretches) aims.push(...(await measureStretch(kind, stretch, options)))
  return aims
}

/** Measures with these numbers in flight, one after the other. */
async function measureStretch(
  kind: NodeKind,
  stretch: readonly number[],
  { calls, rounds, createDatabase }: ThroughputOptions,
): Promise<Aim[]> {
  const database = createDatabase ? 'PostgreSQL' : 'PGlite'
  const course = courses[kind]
  const loads = [
    { workers: WARM_UP_WORKERS, tasks: course.warmUp },
    // Alone a call takes several times as long.
    ...stretch.map((workers) => ({
      workers,
      tasks: Math.ceil(Math.min(calls, course.calls) / (workers === 1 ? 4 : 1)),
    })),
  ].map((load, index) => ({ ...load, firstChannel: BigInt(index + 1) * 1_000_000n }))
  const rows: Results[][] = []
  for (let round = 0; round < rounds; round++) {
    const [, ...floors] = await onNewChain(kind, (world) => inTurn(loads, (load) => runFloor(world, load)))
    const databaseUrl = await createDatabase?.()
    const [, ...relays] = await onNewChain(kind, (world) => measureRelays(world, loads, databaseUrl))
    rows.push(stretch.map((_, at) => ({ floor: resultAt(floors, at), relays: resultAt(relays, at) })))
  }
  const aims: Aim[] = []
  for (const [at, workers] of stretch.entries()) {
    const results = rows.flatMap((row) => row[at] ?? [])
    const share = median(results.map(({ floor, relays }) => relays.perSecond / floor.perSecond))
    const failed = results.reduce((sum, { floor, relays }) => sum + floor.failed + relays.failed, 0)
    console.log(row([kind, database, workers], results, share, failed))
    for (const { floor, relays } of results) {
      for (const [reason, count] of Object.entries({ ...floor.failures, ...relays.failures }).slice(0, 3)) {
        console.log(`  ${count} x ${reason.slice(0, 160)}`)
      }
    }
    const name = `${kind}, ${database}, ${workers} in flight`
    if (workers === AIM_IN_FLIGHT) aims.push({ name: `${name}: of the floor`, value: share, atLeast: FLOOR_SHARE })
    aims.push({ name: `${name}: calls that failed`, value: failed, atMost: 0 })
  }
  return aims
}

function resultAt(results: readonly LoadResult[], at: number): LoadResult {
  const result = results[at]
  if (!result) throw new RangeError(`no result ${at}`)
  return result
}

async function inTurn(loads: readonly Load[], run: (load: Load) => Promise<LoadResult>): Promise<LoadResult[]> {
  const results: LoadResult[] = []
  for (const load of loads) results.push(await run(load))
  return results
}

interface Results {
  readonly floor: LoadResult
  readonly relays: LoadResult
}

interface Load {
  readonly workers: number
  /** In all. */
  readonly tasks: number
  readonly firstChannel: bigint
}

async function onNewChain<Result>(kind: NodeKind, work: (world: RelayWorld) => Promise<Result>): Promise<Result> {
  const node = await startNode(kind)
  try {
    return await work(await provisionWorld(node.url))
  } finally {
    await node.close()
  }
}

async function measureRelays(
  world: RelayWorld,
  loads: readonly Load[],
  databaseUrl: string | undefined,
): Promise<LoadResult[]> {
  const server = await startServerProcess({
    rpcUrl: byWebSocket(world.rpcUrl),
    signerKeys: world.signerKeys,
    ...(databaseUrl !== undefined && { databaseUrl }),
  })
  try {
    return await inTurn(loads, (load) => runRelays(world, server.url, load))
  } finally {
    await server.close()
  }
}

async function runFloor(world: RelayWorld, load: Load): Promise<LoadResult> {
  const { workers, firstChannel } = load
  const node = await openRpcSocket(byWebSocket(world.rpcUrl))
  const accounts = Array.from({ length: workers }, (_, worker) =>
    signerFromKey(keccak256(toUtf8Bytes(`bench ${firstChannel} ${worker}`))),
  )
  const senders = accounts.map(({ address }) => address)
  await fund(world, senders)
  const { keyManager } = world.fixture.profile
  let lastId = 0
  const asked = (method: string, params: readonly unknown[]) => {
    const id = ++lastId
    return { id, body: rpcBody(method, params, id) }
  }
  const prepared = accounts.map((account, worker) =>
    channelsOf(load, worker).map((channel, nonce) => {
      const { callData } = signedCall(world, channel, 0n)
      const { raw } = account.sign({
        chainId: BigInt(world.chainId),
        nonce,
        to: keyManager,
        gasLimit: FLOOR_GAS_LIMIT,
        data: callData,
        fees: FEES,
      })
      const call = { from: account.address, to: keyManager, data: callData }
      return [asked('eth_call', [call, 'latest']), asked('eth_sendRawTransaction', [raw])]
    }),
  )
  const result = await runUntilMined(world.rpcUrl, senders, () =>
    runLoad(load, async (worker, index) => {
      for (const { id, body } of prepared[worker]?.[index] ?? []) {
        const { error } = await node.ask(id, body)
        if (error !== undefined) throw new Error(`floor: ${JSON.stringify(error)}`)
      }
    }),
  )
  await node.close()
  return result
}

async function runRelays(world: RelayWorld, url: string, load: Load): Promise<LoadResult> {
  const relay = createPoster(url, load.workers)
  const prepared = Array.from({ length: load.workers }, (_, worker) =>
    channelsOf(load, worker).map((channel) => signedCall(world, channel, 0n).body),
  )
  const result = await runUntilMined(world.rpcUrl, world.signers, () =>
    runLoad(load, async (worker, index) => {
      const { status, json } = await relay.post('/execute', prepared[worker]?.[index] ?? '')
      if (status !== 200) throw new Error(`relay: ${status} ${JSON.stringify(json)}`)
    }),
  )
  await relay.close()
  return result
}

/** Each call of a worker has a channel of its own: none depends on another one's being mined. */
function channelsOf({ workers, tasks, firstChannel }: Load, worker: number): bigint[] {
  const each = Math.ceil(tasks / workers)
  return Array.from({ length: each }, (_, index) => firstChannel + BigInt(worker * each + index))
}

/** Both nodes know Hardhat's name for it. */
async function fund(world: RelayWorld, addresses: readonly string[]): Promise<void> {
  const node = createRpcClient(world.rpcUrl, 1)
  for (const address of addresses) await node.call('hardhat_setBalance', address, toQuantity(10n ** 18n))
  await node.close()
}

export const tableHead = `| node | database | in flight | floor/s | relays/s | of the floor | p50 ms | p99 ms | failed |
|---|---|---|---|---|---|---|---|---|`

function row(of: readonly (string | number)[], results: readonly Results[], share: number, failed: number): string {
  const middle = (figure: (result: Results) => number) => median(results.map(figure))
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
