import { JsonRpcProvider, Wallet } from 'ethers'
import { loadArtifact } from '../../../contracts/artifacts.ts'
import { logEmitterInterface } from '../../../contracts/deploy/seeds.ts'
import { createSender } from '../../../contracts/deploy/sender.ts'
import { testKey, rpcBody } from '../../../testbed/relay-world.ts'
import { fire, type CannonResult } from '../support/autocannon.ts'
import { startNode, startScript, startServerProcess, type Started } from '../../../testbed/processes.ts'
import { median } from '../support/statistics.ts'
import type { Aim } from '../support/aim.ts'

export interface LoadOptions {
  readonly connections: number
  readonly seconds: number
  readonly rounds: number
}

/**
 * Answered from memory: a chain's id for good, a receipt that is final once the head is seen to be the same. The others
 * are asked of a development node each time, whose tools change them without a block: once for all who wait.
 */
const CACHED = ['eth_chainId', 'eth_getTransactionReceipt']
const FLOOR_SHARE = 0.6
const NODE_RATIO = 1.3

/** One result for each round. */
type Results = Record<Target, CannonResult[]>

type Target = 'floor' | 'hardhat' | 'endpoint on hardhat' | 'anvil' | 'endpoint on anvil'

/** Requests per second of four methods: through the endpoint, beside the nodes themselves and a bare Koa route. */
export async function measureLoad({ connections, seconds, rounds }: LoadOptions): Promise<Aim[]> {
  const started: Started[] = []
  const start = async (starting: Promise<Started>) => {
    const one = await starting
    started.push(one)
    return one.url
  }
  try {
    const hardhat = await start(startNode('hardhat'))
    const anvil = await start(startNode('anvil'))
    const serve = async (rpcUrl: string) =>
      `${await start(startServerProcess({ rpcUrl, signerKeys: [testKey(16)] }))}/api/eth-rpc`
    const urls: Record<Target, string> = {
      floor: await start(startFloor()),
      hardhat,
      'endpoint on hardhat': await serve(hardhat),
      anvil,
      'endpoint on anvil': await serve(anvil),
    }
    const bodies: Record<string, Record<'hardhat' | 'anvil', string>> = {}
    for (const kind of ['hardhat', 'anvil'] as const) {
      for (const [method, body] of Object.entries(await prepare(urls[kind]))) {
        bodies[method] = { ...bodies[method], [kind]: body } as Record<'hardhat' | 'anvil', string>
      }
    }
    console.log(`\n${connections} connections, median of ${rounds} rounds of ${seconds} s: requests/s (p99 ms)`)
    console.log(`ratios are medians of those of each round; aims are for what is cached: ${CACHED.join(', ')}\n`)
    const targets = Object.keys(urls) as Target[]
    console.log(`| method | ${targets.join(' | ')} | of the floor | times Hardhat |`)
    console.log(`|---|${targets.map(() => '---|').join('')}---|---|`)
    const aims: Aim[] = []
    for (const [method, body] of Object.entries(bodies)) {
      const results = await measure(urls, body, { connections, seconds, rounds })
      const share = medianRatio(results, 'endpoint on hardhat', 'floor')
      const ratio = medianRatio(results, 'endpoint on hardhat', 'hardhat')
      const cells = targets.map((target) => {
        const rate = median(results[target].map(({ perSecond }) => perSecond))
        return `${rate.toFixed(0)} (${median(results[target].map(({ p99Ms }) => p99Ms)).toFixed(0)})`
      })
      console.log(`| ${method} | ${cells.join(' | ')} | ${share.toFixed(2)} | ${ratio.toFixed(2)} |`)
      if (!CACHED.includes(method)) continue
      aims.push({ name: `${method}: share of the floor`, value: share, atLeast: FLOOR_SHARE })
      aims.push({ name: `${method}: times Hardhat`, value: ratio, atLeast: NODE_RATIO })
    }
    return aims
  } finally {
    for (const one of started.reverse()) await one.close()
  }
}

/** Measures one target after the other, round by round, so that a disturbance of the machine meets all of them. */
async function measure(
  urls: Record<Target, string>,
  body: Record<'hardhat' | 'anvil', string>,
  { connections, seconds, rounds }: LoadOptions,
): Promise<Results> {
  const targets = Object.entries(urls) as [Target, string][]
  const results = new Map<Target, CannonResult[]>(targets.map(([target]) => [target, []]))
  for (let round = 0; round <= rounds; round++) {
    for (const [target, url] of targets) {
      const kind = target.endsWith('anvil') ? 'anvil' : 'hardhat'
      const warmUp = round === 0
      const result = await fire({ url, body: body[kind], connections, seconds: warmUp ? 1 : seconds })
      if (!warmUp) results.get(target)?.push(result)
    }
  }
  return Object.fromEntries(results) as Results
}

/** The median ratio of the rates in the same round, so that a slow round changes nothing. */
function medianRatio(results: Results, target: Target, other: Target): number {
  return median(results[target].map(({ perSecond }, round) => perSecond / (results[other][round]?.perSecond ?? NaN)))
}

/** Logs of the transaction whose receipt is asked for: as many as a relay call makes. */
const LOGS = 4

/** A chain with a transaction that lies deep enough to be final, and the four bodies. */
async function prepare(nodeUrl: string): Promise<Record<string, string>> {
  const provider = new JsonRpcProvider(nodeUrl, undefined, { staticNetwork: true, cacheTimeout: -1, batchMaxCount: 1 })
  try {
    const wallet = new Wallet(testKey(0), provider)
    const sender = await createSender(wallet)
    const { bytecode } = await loadArtifact('LogEmitter')
    const { address, deployed } = sender.deploy(bytecode)
    await deployed
    const data = logEmitterInterface.encodeFunctionData('emitLogs', [LOGS])
    const { hash } = await sender.mined(await sender.send({ to: address, data }))
    for (let block = 0; block < 20; block++) await provider.send('evm_mine', [])
    return {
      eth_chainId: rpcBody('eth_chainId', []),
      eth_blockNumber: rpcBody('eth_blockNumber', []),
      eth_getBalance: rpcBody('eth_getBalance', [wallet.address, 'latest']),
      eth_getTransactionReceipt: rpcBody('eth_getTransactionReceipt', [hash]),
    }
  } finally {
    provider.destroy()
  }
}

function startFloor(): Promise<Started> {
  return startScript('scripts/bench/support/koa-floor', [], { environment: { NODE_ENV: 'production' } })
}
