import type { ChainTruth } from '../chain-truth.ts'
import type { CheckContext } from '../context.ts'
import { memberOf } from '../rpc-answer.ts'
import { Untestable } from '../outcome.ts'
import { numberOf, readingsOf } from './quantity.ts'

/**
 * A service may know of a block so much later than another node: the document asks for "block number query", and
 * services index blocks, or wait for one on top of them, before they tell of them.
 */
export const lagBlocks = 2n

/** The number of the chain's head block. @throws Untestable */
export async function readHead(chain: ChainTruth): Promise<bigint> {
  const result = await chain.send('eth_blockNumber')
  const head = numberOf(result)
  if (head === undefined) throw new Untestable(`the chain's node has no head: ${JSON.stringify(result)}`)
  return head
}

/** What was asked for between two looks at the head: heads move while checks run. */
export interface Bracketed<T> {
  readonly value: T
  readonly before: bigint
  readonly after: bigint
}

/** Asks between two looks at the chain's head. @throws Untestable */
export async function bracketed<T>(chain: ChainTruth, ask: () => Promise<T>): Promise<Bracketed<T>> {
  const before = await readHead(chain)
  const value = await ask()
  return { value, before, after: await readHead(chain) }
}

/**
 * A young block that both know: the chain's head, or that of the target where it is a little behind.
 *
 * @throws Untestable
 */
export async function knownHead(t: CheckContext): Promise<bigint> {
  const own = readingsOf(memberOf(await t.rpc.call('eth_blockNumber'), 'result'))
  const head = await readHead(t.chain)
  const behind = own.find((number) => number <= head && number + lagBlocks >= head)
  return behind ?? head
}

/** The same without a chain as well: then what the target says, and the first block where it says nothing. */
export async function youngBlock(t: CheckContext): Promise<bigint> {
  if (t.hasChain) return knownHead(t)
  return numberOf(memberOf(await t.rpc.call('eth_blockNumber'), 'result')) ?? 0n
}
