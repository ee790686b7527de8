import { Interface, type TransactionReceipt } from 'ethers'
import { loadArtifact } from '../artifacts.ts'
import type { Sender } from './sender.ts'

/** Logs of one contract: all that it emitted between two blocks, both included. */
export interface SeededLogs {
  readonly emitter: string
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

/**
 * Logs per transaction, in groups that end in blocks of their own: more than one page of 1,000 in all, a block that
 * alone is more than a page, and pages that begin and end inside of blocks.
 */
const SEED_GROUPS: readonly (readonly number[])[] = [
  [100, 100, 100, 100, 100],
  [1100],
  [100, 100, 100, 100, 100, 100, 100, 100, 100],
]

/** Deploys a log emitter and lets it emit 2,500 logs, with one block among them that has more than 1,000. */
export async function seedLogs(sender: Sender): Promise<SeededLogs> {
  const { bytecode } = await loadArtifact('LogEmitter')
  const { address: emitter, deployed } = sender.deploy(bytecode)
  await deployed
  const receipts: TransactionReceipt[] = []
  for (const counts of SEED_GROUPS) receipts.push(...(await Promise.all(counts.map((count) => emit(count)))))
  const blocks = receipts.map(({ blockNumber }) => blockNumber)
  return {
    emitter,
    fromBlock: Math.min(...blocks),
    toBlock: Math.max(...blocks),
    count: SEED_GROUPS.flat().reduce((sum, count) => sum + count, 0),
  }

  async function emit(count: number): Promise<TransactionReceipt> {
    const data = logEmitterInterface.encodeFunctionData('emitLogs', [count])
    return sender.mined(await sender.send({ to: emitter, data }))
  }
}
