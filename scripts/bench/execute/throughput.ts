import { keccak256, toQuantity, toUtf8Bytes } from 'ethers'
import { signerFromKey } from '../../../server/services/signers/signer-account.ts'
import type { Aim } from '../support/aim.ts'
import { runLoad, type LoadResult } from '../support/load.ts'
import { startNode, startServerProcess, type NodeKind } from '../support/processes.ts'
import { createPoster, provisionWorld, signedCall, type RelayWorld } from '../support/relay-world.ts'
import { createRpcClient, median, rpcBody } from '../support/rpc.ts'

export interface ThroughputOptions {
  readonly inFlight: readonly number[]
  readonly calls: number
  readonly rounds: number
  /** PostgreSQL instead of the embedded database. */
  readonly databaseUrl?: string
}

/** Every floor worker sends from an account of its own: nobody waits for another one's nonce. */
const FLOOR_GAS_LIMIT = 200_000n
const FEES = { type: 2, maxFeePerGas: 10n ** 10n, maxPriorityFeePerGas: 10n ** 9n } as const
/** The aim is set for so many in flight. */
const AIM_IN_FLIGHT = 20
const FLOOR_SHARE = 0.8

/** Relays per second through `POST /execute`, beside the floor: an eth_call and an eth_sendRawTransaction each. */
export async function measureThroughput(kind: NodeKind, options: ThroughputOptions): Promise<Aim[]> {
  const { inFlight, calls, rounds, databaseUrl } = options
  const database = databaseUrl === undefined ? 'PGlite' : 'PostgreSQL'
  const aims: Aim[] = []
  const node = await startNode(kind)
  try {
    const world = await provisionWorld(node.url)
    const server = await startServerProcess({
      rpcUrl: node.url,
      signerKeys: world.signerKeys,
      ...(databaseUrl !== undefined && { databaseUrl }),
    })
    try {
      // A first run warms up both ways alike.
      await measureOnce(world, server.url, { workers: 20, tasks: 200, round: 0 })
      let round = 1
      for (const workers of inFlight) {
        const tasks = Math.max(workers, workers === 1 ? Math.ceil(calls / 3) : calls)
        const results = []
        for (let count = 0; count < rounds; count++) {
          results.push(await measureOnce(world, server.url, { workers, tasks, round: round++ }))
        }
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
    } finally {
      await server.close()
    }
  } finally {
    await node.close()
  }
  return aims
}

interface Results {
  readonly floor: LoadResult
  readonly relays: LoadResult
}

async function measureOnce(world: RelayWorld, url: string, round: Round): Promise<Results> {
  return { floor: await measureFloor(world, round), relays: await measureRelays(world, url, round) }
}

interface Round {
  readonly workers: number
  readonly tasks: number
  readonly round: number
}

/** A channel of its own for each call: none depends on another one's being mined. */
const channelOf = (way: 'floor' | 'relay', round: number, worker: number, index: number) =>
  BigInt(((way === 'floor' ? 100 : 200) + round) * 10_000_000 + worker * 10_000 + index)

async function measureFloor(world: RelayWorld, { workers, tasks, round }: Round): Promise<LoadResult> {
  const node = createPoster(world.rpcUrl, workers)
  const accounts = Array.from({ length: workers }, (_, worker) =>
    signerFromKey(keccak256(toUtf8Bytes(`bench ${round} ${worker}`))),
  )
  await fund(
    world,
    accounts.map(({ address }) => address),
  )
  const { keyManager } = world.fixture.profile
  const prepared = accounts.map((account, worker) =>
    Array.from({ length: Math.ceil(tasks / workers) }, (_, index) => {
      const { callData } = signedCall(world, channelOf('floor', round, worker, index), 0n)
      const { raw } = account.sign({
        chainId: BigInt(world.chainId),
        nonce: index,
        to: keyManager,
        gasLimit: FLOOR_GAS_LIMIT,
        data: callData,
        fees: FEES,
      })
      const call = { from: account.address, to: keyManager, data: callData }
      return { call: rpcBody('eth_call', [call, 'latest']), send: rpcBody('eth_sendRawTransaction', [raw]) }
    }),
  )
  const result = await runLoad({ workers, tasks }, async (worker, index) => {
    const request = prepared[worker]?.[index]
    for (const body of [request?.call, request?.send]) {
      const { json } = await node.post('/', body ?? '')
      if (json['error'] !== undefined) throw new Error(`floor: ${JSON.stringify(json['error'])}`)
    }
  })
  await node.close()
  return result
}

async function measureRelays(world: RelayWorld, url: string, { workers, tasks, round }: Round): Promise<LoadResult> {
  const relay = createPoster(url, workers)
  const bodies = Array.from({ length: workers }, (_, worker) =>
    Array.from(
      { length: Math.ceil(tasks / workers) },
      (_, index) => signedCall(world, channelOf('relay', round, worker, index), 0n).body,
    ),
  )
  const result = await runLoad({ workers, tasks }, async (worker, index) => {
    const { status, json } = await relay.post('/execute', bodies[worker]?.[index] ?? '')
    if (status !== 200) throw new Error(`relay: ${status} ${JSON.stringify(json)}`)
  })
  await relay.close()
  return result
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
