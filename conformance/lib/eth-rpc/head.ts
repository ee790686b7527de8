import type { ChainTruth } from '../chain-truth.ts'
import type { CheckContext } from '../clause.ts'
import { memberOf } from '../answer.ts'
import { Untestable } from '../outcome.ts'
import { numberOf, readingsOf } from './quantity.ts'

/**
 * How many blocks a service may be behind another node. The document asks for "block number query". Services index a
 * block, or wait for another one, before they tell of it.
 */
export const lagBlocks = 2n

/** The number of the chain's head block. @throws Untestable */
export async function readHead(chain: ChainTruth): Promise<bigint> {
  const result = await chain.send('eth_blockNumber')
  const head = numberOf(result)
  if (head === undefined) throw new Untestable(`the chain's node has no head: ${JSON.stringify(result)}`)
  return head
}

/** A value that was asked for between two looks at the head, since heads move while a check runs. */
export interface Bracketed<T> {
  readonly value: T
  readonly before: bigint
  readonly after: bigint
}

/**
 * Asks for a value between two looks at the chain's head.
 *
 * @throws Untestable when the chain's node does not answer
 */
export async function bracketed<T>(chain: ChainTruth, ask: () => Promise<T>): Promise<Bracketed<T>> {
  const before = await readHead(chain)
  const value = await ask()
  return { value, before, after: await readHead(chain) }
}

/**
 * A young block that the chain's node and the target both know: the chain's head, or the target's where it is a
 * little behind.
 *
 * @throws Untestable when the chain's node does not answer
 */
export async function knownHead(t: CheckContext): Promise<bigint> {
  const own = readingsOf(memberOf(await t.rpc.call('eth_blockNumber'), 'result'))
  const head = await readHead(t.chain)
  const behind = own.find((number) => number <= head && number + lagBlocks >= head)
  return behind ?? head
}

/**
 * A young block. Without a chain it is the head that the target tells, or the first block where the target tells
 * none.
 */
export async function youngBlock(t: CheckContext): Promise<bigint> {
  if (t.hasChain) return knownHead(t)
  return numberOf(memberOf(await t.rpc.call('eth_blockNumber'), 'result')) ?? 0n
}
