import type { ChainTruth } from '../chain-truth.ts'
import type { CheckContext } from '../context.ts'
import { Untestable } from '../outcome.ts'
import { accountsOf } from './accounts.ts'
import { readHead } from './head.ts'
import { knownTransactions } from './known-transactions.ts'
import { numberOf, quantity } from './quantity.ts'

/** What an account has at a block, by the chain's node. */
export interface BalanceAt {
  readonly address: string
  readonly block: bigint
  readonly balance: bigint
}

/** More heads than this do not pass between two requests; and nodes keep the state of so many blocks at least. */
const keptBlocks = 64n

async function balanceAt(chain: ChainTruth, address: string, block: bigint): Promise<bigint | undefined> {
  const outcome = await chain.attempt('eth_getBalance', [address, quantity(block)])
  return 'result' in outcome ? numberOf(outcome.result) : undefined
}

/**
 * An account at two neighbouring blocks, between which its balance changed: what is asked for by number can then be
 * told from the latest. Where no young change is known, the head alone.
 *
 * @throws Untestable when the chain's node does not tell balances at blocks
 */
export async function balanceSteps(t: CheckContext): Promise<BalanceAt[]> {
  const head = await readHead(t.chain)
  for (const { block, fields } of await knownTransactions(t)) {
    const address = fields['from']
    if (typeof address !== 'string' || block < 1n || block + keptBlocks < head) continue
    const [before, after] = [await balanceAt(t.chain, address, block - 1n), await balanceAt(t.chain, address, block)]
    if (before === undefined || after === undefined || before === after) continue
    return [
      { address, block: block - 1n, balance: before },
      { address, block, balance: after },
    ]
  }
  const [address] = await accountsOf(t)
  const balance = address === undefined ? undefined : await balanceAt(t.chain, address, head)
  if (address === undefined || balance === undefined) throw new Untestable('no account with a known balance was found')
  return [{ address, block: head, balance }]
}

/**
 * The balances at each head from `before` to `after`.
 *
 * @throws Untestable when the chain's node does not tell them
 */
export async function balancesBetween(chain: ChainTruth, address: string, before: bigint, after: bigint) {
  const balances: bigint[] = []
  for (let block = before; block <= after && block - before < keptBlocks; block += 1n) {
    const balance = await balanceAt(chain, address, block)
    if (balance === undefined) throw new Untestable(`the chain's node does not tell the balance at block ${block}`)
    balances.push(balance)
  }
  return balances
}
