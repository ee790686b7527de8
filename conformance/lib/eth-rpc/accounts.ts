import { getAddress } from 'ethers'
import type { ChainTruth } from '../chain-truth.ts'
import { errorCodeOf, errorOf } from '../answer.ts'
import type { CheckContext } from '../clause.ts'
import { Untestable } from '../outcome.ts'
import { knownHead, lagBlocks, readHead } from './head.ts'
import { knownTransactions } from './known-transactions.ts'
import { isNumber, numberOf, quantity } from './values.ts'
import { sampleAddress } from './methods.ts'

/**
 * Addresses of accounts that are likely to hold coin: senders of mined transactions, and the accounts of the
 * fixture.
 *
 * @returns the addresses; empty when none is known
 */
export async function accountsOf(t: CheckContext): Promise<string[]> {
  const senders = await knownTransactions(t).then(
    (known) => known.flatMap(({ fields }) => (typeof fields['from'] === 'string' ? [fields['from']] : [])),
    (error: unknown) => {
      if (error instanceof Untestable) return []
      throw error
    },
  )
  return [...new Set([...senders, ...fixtureAccounts(t)])]
}

/**
 * An address in checksummed case whose balance every service can tell: that of an account that has sent a
 * transaction, where one is known. The document does not say what a service answers for an address that the chain
 * has never seen.
 *
 * @throws Untestable when no account is known, and the target knows no balance of any other address
 */
export async function accountOf(t: CheckContext): Promise<string> {
  const [account] = await accountsOf(t)
  return getAddress(account ?? (await t.once('eth-rpc.account of nobody', accountOfNobody)))
}

async function accountOfNobody({ rpc }: CheckContext): Promise<string> {
  const answer = await rpc.call('eth_getBalance', [sampleAddress, 'latest'])
  // What names the method as unknown, or comes without a JSON-RPC error, is not about the address.
  if (errorOf(answer) === undefined || errorCodeOf(answer) === methodNotFound) return sampleAddress
  throw new Untestable(`no account is known, and the target knows no balance of ${sampleAddress}`)
}

/** The accounts of the fixture, from which nobody but its owner sends. Empty without a fixture. */
export function fixtureAccounts(t: CheckContext): string[] {
  try {
    const { profile, controllers, funder } = t.fixture
    return [profile.address, ...(funder ? [funder.address] : []), controllers.full.address]
  } catch (error) {
    if (error instanceof Untestable) return []
    throw error
  }
}

/** The balance of an account at a block, as the chain's node tells it. */
export interface BalanceAt {
  readonly address: string
  readonly block: bigint
  readonly balance: bigint
  /** Whether the block is so old that a node may have dropped its state. */
  readonly isOld: boolean
  /**
   * Whether the account has had this balance since the first block. The document says that services do not import
   * these balances.
   */
  readonly isOfGenesis: boolean
}

/** JSON-RPC 2.0: the method does not exist. */
const methodNotFound = -32601

/** Nodes keep the state of this many blocks at least. No more blocks than this are mined between two requests. */
const keptBlocks = 64n
/** How many accounts to ask for at one block. */
const mostOthers = 5
/** How far back to look, in blocks. A cache or an index of the target may begin at any of these ages. */
const depths = [4n, 10n, 24n, 50n, 64n, 120n, 1000n]

/** The balance; undefined where the chain's node does not have the state of the block. */
async function balanceAt(chain: ChainTruth, address: string, block: bigint): Promise<bigint | undefined> {
  const outcome = await chain.attempt('eth_getBalance', [address, quantity(block)])
  return 'result' in outcome ? numberOf(outcome.result) : undefined
}

/** The blocks to ask about, by address: those of known transactions, the blocks before these, and some of each age. */
async function blocksToAsk(t: CheckContext, head: bigint): Promise<Map<string, Set<bigint>>> {
  const blocks = new Map<string, Set<bigint>>()
  for (const { block, fields } of await knownTransactions(t)) {
    const address = String(fields['from']).toLowerCase()
    if (block < 1n || block > head) continue
    const own = blocks.get(address) ?? new Set(depths.map((depth) => head - depth).filter((number) => number >= 0n))
    blocks.set(address, own.add(block - 1n).add(block))
  }
  return blocks
}

/**
 * Balances of senders of known transactions, before and after a change, at blocks of each age. They tell a balance
 * that was asked for by number from the latest one. Some need more digits than a double has, where the chain has
 * such. The balances of several accounts at one block follow each other. Read once in a run.
 *
 * @throws Untestable when the chain's node does not tell balances at blocks
 */
export function balanceSteps(t: CheckContext): Promise<readonly BalanceAt[]> {
  return t.once('eth-rpc.balance-steps', async (shared) => {
    const head = await knownHead(shared)
    const bySender = [...(await blocksToAsk(shared, head))].sort(([, a], [, b]) => b.size - a.size).slice(0, 2)
    const common = head - (depths[0] ?? 0n)
    const accounts = await accountsOf(shared)
    const others = common < 0n ? [] : accounts.slice(0, mostOthers)
    const asked = new Map([
      ...others.map((address) => [address.toLowerCase(), new Set([common])] as const),
      ...bySender,
    ])
    const found = await Promise.all(
      [...asked].flatMap(([address, blocks]) => {
        const first = balanceAt(shared.chain, address, 0n)
        return [...blocks].map(async (block) => {
          const balance = await balanceAt(shared.chain, address, block)
          return { address, block, balance, isOfGenesis: balance !== 0n && balance === (await first) }
        })
      }),
    )
    const steps = found.flatMap(({ balance, ...step }) =>
      balance === undefined ? [] : [{ ...step, balance, isOld: step.block + keptBlocks < head }],
    )
    if (steps.length > 0) return steps.sort((one, other) => Number(one.block - other.block))
    const [address] = accounts
    const balance = address === undefined ? undefined : await balanceAt(shared.chain, address, head)
    if (address === undefined || balance === undefined) {
      throw new Untestable('no account with a known balance was found')
    }
    return [{ address, block: head, balance, isOld: false, isOfGenesis: false }]
  })
}

/** How many balances are asked for together. */
const together = 4

/**
 * Balances of several accounts at young blocks, no two of them alike, so that an account that is told the balance of
 * another shows. Empty where the chain does not show two.
 */
export async function differentBalances(t: CheckContext): Promise<readonly BalanceAt[]> {
  const young = (await balanceSteps(t)).filter(({ isOld }) => !isOld)
  const ofAccounts = new Map(young.map((step) => [step.address, step])).values()
  const different = [...new Map([...ofAccounts].map((step) => [step.balance, step])).values()].slice(0, together)
  return different.length < 2 ? [] : different
}

/** Whether the result is the balance of another of these accounts, and none that the account itself had of late. */
export async function isOfAnother(
  { chain }: CheckContext,
  steps: readonly BalanceAt[],
  { address, block, balance }: BalanceAt,
  result: unknown,
): Promise<boolean> {
  const other = steps.find((step) => step.address !== address && isNumber(result, step.balance))
  if (!other || isNumber(result, balance)) return false
  const own = await balancesBetween(chain, address, block - lagBlocks, await readHead(chain))
  return !own.some((one) => isNumber(result, one))
}

/**
 * The balances at each head from `before` to `after`, both included.
 *
 * @throws Untestable when the chain's node does not tell them
 */
export async function balancesBetween(chain: ChainTruth, address: string, before: bigint, after: bigint) {
  const balances: bigint[] = []
  const from = before < 0n ? 0n : before
  for (let block = from; block <= after && block - from < keptBlocks; block += 1n) {
    const balance = await balanceAt(chain, address, block)
    if (balance === undefined) throw new Untestable(`the chain's node does not tell the balance at block ${block}`)
    balances.push(balance)
  }
  return balances
}

/**
 * The balance with the transactions that the chain's node has not mined yet; undefined where the node does not tell
 * it.
 */
export async function pendingBalance(chain: ChainTruth, address: string): Promise<bigint | undefined> {
  const outcome = await chain.attempt('eth_getBalance', [address, 'pending'])
  return 'result' in outcome ? numberOf(outcome.result) : undefined
}
