import { Interface, type TransactionReceipt } from 'ethers'
import { loadArtifact } from '../artifacts.ts'
import type { Sender } from './sender.ts'

/** Logs of one contract: all that it emitted between two blocks, both included. */
export interface SeededLogs {
  readonly emitter: string
  readonly fromBlock: number
  readonly toBlock: number
  readonly count: number
  /** Absent in fixtures of version 0.1. */
  readonly paired?: PairedLogs
}

/** Logs of two contracts, all that they emitted, which stand in turn in one block. A few with long data come before. */
export interface PairedLogs {
  readonly emitters: readonly [one: string, other: string]
  readonly fromBlock: number
  readonly toBlock: number
  readonly count: number
}

export const logEmitterInterface = new Interface([
  'event Even(uint256 indexed sequence, uint256 indexed group, address indexed caller, bytes32 data)',
  'event Odd(uint256 indexed sequence, uint256 indexed group, address indexed caller, bytes32 data)',
  'function emitLogs(uint256 count)',
  'function emitted() view returns (uint256)',
])

export const logPairInterface = new Interface([
  'function one() view returns (address)',
  'function other() view returns (address)',
  'function emitPairs(uint256 blanks, uint256 rounds, uint256 each, uint256 longBytes)',
])

/** Logs of two contracts with 3 kB of data each. */
const LONG = { blanks: 0, rounds: 1, each: 2, longBytes: 3000 } as const
/**
 * Logs of two contracts in one block: more than a page together, and behind so many blank ones that their indexes do not
 * fit into 12 bits. About 4 million gas.
 */
const PAIRS = { blanks: 4000, rounds: 52, each: 10, longBytes: 0 } as const

/**
 * Logs per transaction, in groups that end in blocks of their own: more than one page of 1,000 in all, a block that
 * alone is more than a page, and pages that begin and end inside of blocks.
 */
const SEED_GROUPS: readonly (readonly number[])[] = [
  [100, 100, 100, 100, 100],
  [1100],
  [100, 100, 100, 100, 100, 100, 100, 100, 100],
]

/**
 * Deploys a log emitter and lets it emit 2,500 logs, with one block among them that has more than 1,000, and a log of
 * another contract between them.
 */
export async function seedLogs(sender: Sender): Promise<SeededLogs> {
  const { bytecode } = await loadArtifact('LogEmitter')
  const [{ address: emitter, deployed }, stranger] = [sender.deploy(bytecode), sender.deploy(bytecode)]
  await Promise.all([deployed, stranger.deployed])
  const receipts: TransactionReceipt[] = []
  for (const [index, counts] of SEED_GROUPS.entries()) {
    // On pages after the first, whoever forgets the address shows it.
    if (index === SEED_GROUPS.length - 1) await emit(stranger.address, 1)
    receipts.push(...(await Promise.all(counts.map((count) => emit(emitter, count)))))
  }
  const blocks = receipts.map(({ blockNumber }) => blockNumber)
  return {
    emitter,
    fromBlock: Math.min(...blocks),
    toBlock: Math.max(...blocks),
    count: SEED_GROUPS.flat().reduce((sum, count) => sum + count, 0),
  }

  async function emit(to: string, count: number): Promise<TransactionReceipt> {
    const data = logEmitterInterface.encodeFunctionData('emitLogs', [count])
    return sender.mined(await sender.send({ to, data }))
  }
}

/** Deploys two contracts and lets them emit logs; `creation` is the hash of the transaction that created them. */
export async function seedPairedLogs(sender: Sender): Promise<PairedLogs & { readonly creation: string }> {
  const { bytecode } = await loadArtifact('LogPair')
  const { address, deployed } = sender.deploy(bytecode)
  const { hash: creation } = await deployed
  const emit = async ({ blanks, rounds, each, longBytes }: typeof LONG | typeof PAIRS): Promise<number> => {
    const data = logPairInterface.encodeFunctionData('emitPairs', [blanks, rounds, each, longBytes])
    return (await sender.mined(await sender.send({ to: address, data }))).blockNumber
  }
  const [fromBlock, toBlock] = [await emit(LONG), await emit(PAIRS)]
  const read = async (getter: 'one' | 'other') => {
    const result = await sender.provider.call({ to: address, data: logPairInterface.encodeFunctionData(getter) })
    return logPairInterface.decodeFunctionResult(getter, result)[0] as string
  }
  const count = [LONG, PAIRS].reduce((sum, { rounds, each }) => sum + rounds * 2 * each, 0)
  return { emitters: [await read('one'), await read('other')], fromBlock, toBlock, count, creation }
}
