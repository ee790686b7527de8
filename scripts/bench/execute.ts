import { parseArgs } from 'node:util'
import { signerFromKey } from '../../server/services/signers/signer-account.ts'
import { keccak256, toUtf8Bytes, Wallet } from 'ethers'
import { runLoad, type LoadResult } from './support/load.ts'
import { startNode, startServerProcess, type NodeKind } from './support/processes.ts'
import { createPoster, provisionWorld, signedCall, testKey, type RelayWorld } from './support/relay-world.ts'

const usage = `touchstone bench execute [--node hardhat|anvil] [--in-flight 1,20,100] [--calls 600]

Relay calls per second through POST /execute, beside the floor of the same run: one eth_call and one
eth_sendRawTransaction per relay, straight to the same node, nothing else.
`

/** Every floor worker sends from an account of its own: nobody waits for another one's nonce. */
const FLOOR_GAS_LIMIT = 200_000n
const FEES = { type: 2, maxFeePerGas: 10n ** 10n, maxPriorityFeePerGas: 10n ** 9n } as const

/**
 * The benchmark `execute`.
 *
 * @returns the exit code: 0 measured, 1 a call failed, 2 wrong usage
 */
export async function run(argv: readonly string[]): Promise<number> {
  const { values } = parseArgs({
    args: [...argv],
    options: {
      node: { type: 'string' },
      'in-flight': { type: 'string', default: '1,20,100' },
      calls: { type: 'string', default: '600' },
      help: { type: 'boolean' },
    },
  })
  if (values.help) {
    process.stdout.write(usage)
    return 0
  }
  const kinds: NodeKind[] = values.node === 'hardhat' || values.node === 'anvil' ? [values.node] : ['hardhat', 'anvil']
  const inFlight = values['in-flight'].split(',').map(Number)
  const calls = Number(values.calls)
  let failed = 0
  console.log('| node | in flight | floor/s | relays/s | of the floor | p50 ms | p99 ms | failed |')
  console.log('|---|---|---|---|---|---|---|---|')
  for (const kind of kinds) {
    const node = await startNode(kind)
    try {
      const world = await provisionWorld(node.url)
      const server = await startServerProcess({ rpcUrl: node.url, signerKeys: world.signerKeys })
      try {
        // A first run warms up both ways alike.
        for (const [round, workers] of [20, ...inFlight].entries()) {
          const tasks = Math.max(workers, round === 0 ? 200 : workers === 1 ? Math.ceil(calls / 3) : calls)
          const floor = await measureFloor(world, { workers, tasks, round })
          const relays = await measureRelays(world, server.url, { workers, tasks, round })
          if (round === 0) continue
          failed += relays.failed + floor.failed
          console.log(row(kind, workers, floor, relays))
          for (const [reason, count] of Object.entries({ ...floor.failures, ...relays.failures }).slice(0, 3)) {
            console.log(`  ${count} x ${reason.slice(0, 160)}`)
          }
        }
      } finally {
        await server.close()
      }
    } finally {
      await node.close()
    }
  }
  return failed === 0 ? 0 : 1
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

async function fund(world: RelayWorld, addresses: readonly string[]): Promise<void> {
  const { JsonRpcProvider } = await import('ethers')
  const provider = new JsonRpcProvider(world.rpcUrl, undefined, { staticNetwork: true, cacheTimeout: -1 })
  const funder = new Wallet(testKey(15), provider)
  let nonce = await provider.getTransactionCount(funder.address, 'latest')
  let last
  for (const to of addresses) {
    last = await funder.sendTransaction({ to, value: 10n ** 17n * 5n, nonce: nonce++, gasLimit: 21_000n, ...FEES })
  }
  await last?.wait()
  provider.destroy()
}

const rpcBody = (method: string, params: unknown[]) => JSON.stringify({ jsonrpc: '2.0', id: 1, method, params })

function row(kind: NodeKind, workers: number, floor: LoadResult, relays: LoadResult): string {
  const cells = [
    kind,
    workers,
    floor.perSecond.toFixed(0),
    relays.perSecond.toFixed(0),
    (relays.perSecond / floor.perSecond).toFixed(2),
    relays.p50Ms.toFixed(1),
    relays.p99Ms.toFixed(1),
    relays.failed,
  ]
  return `| ${cells.join(' | ')} |`
}
