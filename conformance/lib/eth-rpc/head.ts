import type { ChainTruth } from '../chain-truth.ts'
import { Untestable } from '../outcome.ts'
import { numberOf } from './quantity.ts'

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
