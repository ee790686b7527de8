import { max, min } from '../../ethereum/bigint.ts'
import { orNull, type Raw } from '../../ethereum/quantity.ts'
import { ServiceError } from '../../core/errors.ts'
import type { Upstream } from '../node/upstream.ts'
import type { Clock } from '../clock.ts'
import type { Fees } from '../../ethereum/transaction.ts'

/** Tells the fees that a transaction has to offer. */
export interface FeeSource {
  /**
   * Twice the base fee and the node's priority fee, under the ceiling; one price where the chain has no base fee.
   *
   * @throws ServiceError SIGNERS_UNAVAILABLE the chain asks for more than the ceiling; UPSTREAM_UNAVAILABLE
   */
  current(): Promise<Fees>
  /**
   * The fees as they were last read, however long ago that was.
   *
   * @returns undefined when `current` has to be asked: they were never read, or are above the ceiling
   */
  recent(): Fees | undefined
  /** At least what nodes want for the same nonce again; null when that is above the ceiling. */
  raised(previous: Fees): Promise<Fees | null>
  /** The most gas that a block holds, and so a transaction; null where the chain does not say. */
  blockGasLimit(): Promise<bigint | null>
}

export interface FeeOptions {
  readonly upstream: Upstream
  readonly clock: Clock
  readonly maxFeePerGasWei: bigint
}

/** Blocks may come every second; twice the base fee covers the five that follow at worst. */
const VALID_MS = 1_000
/** Nodes want 10% more for a replacement; some of them more. */
const RAISE_PERCENT = 25n
const RETRY_SECONDS = 15

interface Market {
  readonly atMs: number
  /** Null: no EIP-1559. */
  readonly baseFeeWei: bigint | null
  /** Priority fee, or the gas price where there is no base fee. */
  readonly tipWei: bigint
  readonly blockGasLimit: bigint | null
}

export function createFeeSource({ upstream, clock, maxFeePerGasWei: ceiling }: FeeOptions): FeeSource {
  let known: Market | undefined
  let reading: Promise<Market> | undefined

  async function market(): Promise<Market> {
    if (known && clock.monotonicMs() - known.atMs <= VALID_MS) return known
    reading ??= readMarket(upstream, clock).finally(() => (reading = undefined))
    return (known = await reading)
  }

  const isAboveCeiling = ({ baseFeeWei, tipWei }: Market) => (baseFeeWei ?? tipWei) > ceiling

  function feesFor({ baseFeeWei, tipWei }: Market): Fees {
    if (baseFeeWei === null) return { type: 0, gasPrice: tipWei }
    return { type: 2, maxFeePerGas: min(baseFeeWei * 2n + tipWei, ceiling), maxPriorityFeePerGas: min(tipWei, ceiling) }
  }

  return {
    current: async () => {
      const now = await market()
      if (isAboveCeiling(now)) {
        throw new ServiceError('SIGNERS_UNAVAILABLE', 'the chain asks for more per gas than the ceiling allows', {
          retryAfterSeconds: RETRY_SECONDS,
        })
      }
      return feesFor(now)
    },
    recent: () => (known && !isAboveCeiling(known) ? feesFor(known) : undefined),
    blockGasLimit: async () => (await market()).blockGasLimit,
    raised: async (previous) => {
      const now = feesFor(await market())
      const raise = (wei: bigint) => (wei * (100n + RAISE_PERCENT)) / 100n + 1n
      if (previous.type === 0) {
        const gasPrice = max(raise(previous.gasPrice), now.type === 0 ? now.gasPrice : 0n)
        return gasPrice > ceiling ? null : { type: 0, gasPrice }
      }
      const offered = now.type === 2 ? now : { maxFeePerGas: 0n, maxPriorityFeePerGas: 0n }
      const maxFeePerGas = max(raise(previous.maxFeePerGas), offered.maxFeePerGas)
      const maxPriorityFeePerGas = max(raise(previous.maxPriorityFeePerGas), offered.maxPriorityFeePerGas)
      return maxFeePerGas > ceiling ? null : { type: 2, maxFeePerGas, maxPriorityFeePerGas }
    },
  }
}

async function readMarket(upstream: Upstream, clock: Clock): Promise<Market> {
  const readingTip = upstream.request<string>('eth_maxPriorityFeePerGas', [])
  // A chain without EIP-1559 has none, and nodes say so in different ways.
  readingTip.catch(() => undefined)
  const block = await upstream.request<Raw | null>('eth_getBlockByNumber', ['latest', false])
  // What a chain does not have, nodes leave out or answer as null.
  const blockGasLimit = orNull(block?.['gasLimit'], toBigInt)
  const baseFeeWei = orNull(block?.['baseFeePerGas'], toBigInt)
  const tip = await (baseFeeWei === null ? upstream.request<string>('eth_gasPrice', []) : readingTip)
  return { atMs: clock.monotonicMs(), baseFeeWei, tipWei: BigInt(tip), blockGasLimit }
}

const toBigInt = (quantity: unknown) => BigInt(quantity as string)
