import { JsonRpcProvider, Wallet } from 'ethers'
import { loadArtifact } from '../../../contracts/artifacts.ts'
import { logEmitterInterface } from '../../../contracts/deploy/seeds.ts'
import { testKey } from '../../../testbed/relay-world.ts'

/** A chain with very many logs of one contract. */
export interface LogWorld {
  readonly emitter: string
  readonly fromBlock: number
  /** Last block of the first tenth of the logs. */
  readonly tenthBlock: number
  readonly toBlock: number
  readonly count: number
  readonly tenthCount: number
}

const BLOCKS = 1000
const LOGS = 100_000
const LARGE_BLOCK = 500
const LARGE_LOGS = 5000
const FEES = { type: 2, maxFeePerGas: 10n ** 11n, maxPriorityFeePerGas: 10n ** 9n } as const
const GAS_PER_LOG = 3000n

/** 100,000 logs in 1,000 blocks, one of them with 5,000: a transaction per block. */
export async function seedLogWorld(rpcUrl: string): Promise<LogWorld> {
  const provider = new JsonRpcProvider(rpcUrl, undefined, { staticNetwork: true, cacheTimeout: -1, batchMaxCount: 1 })
  try {
    const wallet = new Wallet(testKey(0), provider)
    const { bytecode } = await loadArtifact('LogEmitter')
    let nonce = await wallet.getNonce()
    const gasLimit = 3_000_000n
    const creation = await wallet.sendTransaction({ data: bytecode, nonce: nonce++, gasLimit, ...FEES })
    const emitter = (await creation.wait(1, 10_000))?.contractAddress ?? ''
    const first = (await provider.getBlockNumber()) + 1

    let left = LOGS - LARGE_LOGS
    let count = 0
    let tenth = { block: 0, count: 0 }
    for (let block = 0; block < BLOCKS; block++) {
      const share = Math.ceil(left / (BLOCKS - block - (block < LARGE_BLOCK ? 1 : 0)))
      const logs = block === LARGE_BLOCK ? LARGE_LOGS : share
      if (block !== LARGE_BLOCK) left -= share
      const data = logEmitterInterface.encodeFunctionData('emitLogs', [logs])
      const gas = 100_000n + GAS_PER_LOG * BigInt(logs)
      await wallet.sendTransaction({ to: emitter, data, nonce: nonce++, gasLimit: gas, ...FEES })
      count += logs
      if (count <= LOGS / 10) tenth = { block: first + block, count }
    }
    return {
      emitter,
      fromBlock: first,
      tenthBlock: tenth.block,
      toBlock: first + BLOCKS - 1,
      count,
      tenthCount: tenth.count,
    }
  } finally {
    provider.destroy()
  }
}
