import { describeAnswer, isServed } from '../answer.ts'
import type { ChainTruth } from '../chain-truth.ts'
import type { CheckContext } from '../clause.ts'
import { Untestable } from '../outcome.ts'
import { readHead } from './head.ts'
import { receiptsOf } from './known-transactions.ts'
import type { ListedMethod } from './methods.ts'
import { numberOf, quantity } from './values.ts'

/** How many blocks count as recent. */
const depth = 20n
/**
 * How many blocks of fees to read, since a price may be an average over a long time. Nodes return no more in one
 * answer.
 */
const feeHistoryBlocks = 1024

/** A range of gas prices, in wei. */
export interface Prices {
  readonly lowest: bigint
  readonly highest: bigint
}

/** The prices that the chain shows, in wei. */
export interface KnownPrices {
  /** What transactions paid for gas: base fee and tip together. */
  readonly price: Prices
  /** The part that was the tip; undefined on a chain without base fees (before EIP-1559). */
  readonly tip: Prices | undefined
}

interface Block {
  readonly baseFeePerGas?: unknown
  readonly transactions?: readonly { readonly gasPrice?: unknown }[]
}

interface Paid {
  readonly price: bigint
  readonly tip: bigint | undefined
}

function rangeOf(values: readonly bigint[]): Prices | undefined {
  const [lowest, highest] = [...values]
    .sort((a, b) => (a < b ? -1 : a > b ? 1 : 0))
    .filter((_, at, all) => at === 0 || at === all.length - 1)
  return lowest === undefined ? undefined : { lowest, highest: highest ?? lowest }
}

function paidIn(block: Block | null): Paid[] {
  const baseFee = numberOf(block?.baseFeePerGas)
  return (block?.transactions ?? []).flatMap(({ gasPrice }) => {
    const price = numberOf(gasPrice)
    if (price === undefined) return []
    return [{ price, tip: baseFee === undefined ? undefined : price > baseFee ? price - baseFee : 0n }]
  })
}

async function blockOf(chain: ChainTruth, number: bigint): Promise<Block | null> {
  return (await chain.send('eth_getBlockByNumber', [quantity(number), true])) as Block | null
}

/** What transactions of a longer time paid; empty where the node does not know eth_feeHistory. */
async function paidInHistory(chain: ChainTruth): Promise<Paid[]> {
  const outcome = await chain.attempt('eth_feeHistory', [quantity(feeHistoryBlocks), 'latest', [10, 50, 90]])
  const history = ('result' in outcome ? outcome.result : undefined) as
    | { readonly baseFeePerGas?: unknown[]; readonly gasUsedRatio?: unknown[]; readonly reward?: unknown[][] }
    | null
    | undefined
  return (history?.reward ?? []).flatMap((rewards, index) => {
    const baseFee = numberOf(history?.baseFeePerGas?.[index])
    if (baseFee === undefined || !(Number(history?.gasUsedRatio?.[index]) > 0)) return []
    return rewards.flatMap((reward) => {
      const tip = numberOf(reward)
      return tip === undefined ? [] : [{ price: baseFee + tip, tip }]
    })
  })
}

/** What the known transactions paid, whatever their age. */
async function paidByKnown(t: CheckContext): Promise<Paid[]> {
  const receipts = await receiptsOf(t).catch((error: unknown) => {
    if (error instanceof Untestable) return []
    throw error
  })
  const numbers = [...new Set(receipts.map(({ known }) => known.block))]
  return (await Promise.all(numbers.map((number) => blockOf(t.chain, number)))).flatMap(paidIn)
}

async function ownWord(chain: ChainTruth, method: string): Promise<bigint[]> {
  const outcome = await chain.attempt(method)
  const value = 'result' in outcome ? numberOf(outcome.result) : undefined
  return value === undefined ? [] : [value]
}

/**
 * The range of what gas costs on the chain: what its node answers, and what transactions of recent blocks, of a
 * longer time and of the fixture paid. Base fees alone count only where no recent block has a transaction, since on
 * an idle chain they sink far below what anyone pays. Read once in a run.
 *
 * @throws Untestable when the chain shows no price
 */
export function knownPrices(t: CheckContext): Promise<KnownPrices> {
  return t.once('eth-rpc.known-prices', async (shared) => {
    const { chain } = shared
    const head = await readHead(chain)
    const numbers = Array.from({ length: Number(depth) }, (_, back) => head - BigInt(back)).filter((n) => n >= 0n)
    const blocks = await Promise.all(numbers.map((number) => blockOf(chain, number)))
    const recent = blocks.flatMap(paidIn)
    const paid = [...recent, ...(await paidInHistory(chain)), ...(await paidByKnown(shared))]
    const idle = recent.length > 0 ? [] : blocks.flatMap((block) => numberOf(block?.baseFeePerGas) ?? [])
    const prices = [...paid.map(({ price }) => price), ...idle, ...(await ownWord(chain, 'eth_gasPrice'))]
    // Chains of the OP stack have transactions of the system, which pay nothing.
    const priced = prices.filter((each) => each > 0n)
    const price = rangeOf(priced.length > 0 ? priced : prices)
    if (price === undefined) throw new Untestable('the chain’s node knows of no gas price')
    const hasBaseFee = blocks[0]?.baseFeePerGas !== undefined && blocks[0].baseFeePerGas !== null
    const tips = paid.flatMap(({ tip }) => tip ?? [])
    const tip = rangeOf([...tips, ...(await ownWord(chain, 'eth_maxPriorityFeePerGas'))])
    return { price, tip: hasBaseFee ? tip : undefined }
  })
}

/** Whether the chain's head has a base fee. Without base fees there are no priority fees (EIP-1559). */
export async function hasBaseFee({ chain }: CheckContext): Promise<boolean> {
  const block = (await chain.send('eth_getBlockByNumber', ['latest', false])) as Block | null
  return (block?.baseFeePerGas ?? undefined) !== undefined
}

/**
 * Whether the method is eth_maxPriorityFeePerGas, and the target refuses it on a chain without priority fees. The
 * document cannot ask for a fee that the chain does not have (before EIP-1559), so the check observes the refusal
 * and does not judge it.
 *
 * @throws Untestable when the target refuses it, and nobody tells whether the chain has priority fees
 */
export async function isWithoutMeaning(t: CheckContext, method: ListedMethod): Promise<boolean> {
  if (method !== 'eth_maxPriorityFeePerGas' || (t.hasChain && (await hasBaseFee(t)))) return false
  const answer = await t.rpc.call(method)
  if (isServed(answer)) return false
  if (!t.hasChain) {
    throw new Untestable(`${method} is refused, and without a chain nobody tells whether there are priority fees`)
  }
  t.observe(`the chain has no base fee (EIP-1559), and ${method} is refused: ${describeAnswer(answer)}`)
  return true
}
