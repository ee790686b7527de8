import type { CheckContext } from '../clause.ts'
import { Untestable } from '../outcome.ts'
import type { RelayCall } from './call.ts'
import { keyManagerAbi, readData } from './contracts.ts'
import type { ChainTruth } from '../chain-truth.ts'
import type { CausedTransaction } from '../report-types.ts'
import type { SpendingAccount } from '../spending.ts'
import { delay, ourTimeMs } from '../world.ts'

/** A log entry of a receipt, as the node returns it. */
export interface ReceiptLog {
  readonly address: string
  readonly topics: readonly string[]
  readonly data: string
}

/** A receipt, as the node returns it. */
export interface Receipt {
  readonly transactionHash: string
  readonly blockNumber: string
  readonly transactionIndex: string
  /** Whom the transaction calls; null: it creates a contract. */
  readonly to?: string | null
  /** `0x1`: succeeded, `0x0`: reverted. */
  readonly status: string
  readonly gasUsed: string
  readonly effectiveGasPrice?: string
  readonly logs: readonly ReceiptLog[]
}

/**
 * Whether the transaction may do more than one relay call. The key manager logs for each call whose permissions it
 * verified. What a transaction to another contract does beside the call, and what of it reverts, the receipt does not say.
 */
export function mayBeShared({ to, logs }: Receipt, keyManager: string): boolean {
  const verified = keyManagerAbi.getEvent('PermissionsVerified')?.topicHash
  const isStraight = to?.toLowerCase() === keyManager.toLowerCase()
  return !isStraight || logs.filter(({ topics }) => topics[0] === verified).length > 1
}

/**
 * Asks again and again, ever more slowly, until there is an answer.
 *
 * @returns undefined when there is none within `timeoutMs`
 */
export async function poll<T>(ask: () => Promise<T | null | undefined>, timeoutMs: number): Promise<T | undefined> {
  const deadline = ourTimeMs() + timeoutMs
  for (let pauseMs = 10; ; pauseMs = Math.min(pauseMs * 1.5, 1000)) {
    const found = await ask()
    if (found !== null && found !== undefined) return found
    const leftMs = deadline - ourTimeMs()
    if (leftMs <= 0) return undefined
    await delay(Math.min(pauseMs, leftMs))
  }
}

/** The outcome of a call that the target accepted. */
export interface Settled {
  /** Undefined: the chain does not know the transaction. */
  readonly receipt: Receipt | undefined
  /** Whether the profile holds the value that the call sets. */
  readonly isExecuted: boolean
}

/**
 * A node may show the effect a moment before the receipt. How long to wait then: at first, and after a receipt that
 * never came.
 */
const graceMs = [1500, 200] as const

function readReceipt(t: CheckContext, hash: string): Promise<Receipt | null> {
  return t.chain.send('eth_getTransactionReceipt', [hash]) as Promise<Receipt | null>
}

/**
 * Waits until the transaction is mined, or until its effect is there and the chain still does not know the hash.
 *
 * @returns undefined without a chain
 * @throws Untestable when the chain knows the transaction and does not mine it in time
 */
export async function settle(t: CheckContext, call: RelayCall, hash: string): Promise<Settled | undefined> {
  if (!t.hasChain) return undefined
  const isExecuted = async (): Promise<boolean> =>
    (await readData(t.chain, t.fixture.profile.address, call.key)) === call.value
  const timeoutMs = t.patience.receiptMs()
  let seenAt: number | undefined
  const unknown = await t.once('relay.unknown hashes', async () => ({ count: 0 }))
  const waitMs = graceMs[unknown.count === 0 ? 0 : 1]
  const settled = await poll(async (): Promise<Settled | undefined> => {
    const receipt = await readReceipt(t, hash)
    if (receipt) return { receipt, isExecuted: await isExecuted() }
    if (seenAt === undefined && (await isExecuted())) seenAt = ourTimeMs()
    return seenAt !== undefined && ourTimeMs() - seenAt > waitMs ? { receipt: undefined, isExecuted: true } : undefined
  }, timeoutMs)
  if (settled?.receipt === undefined) unknown.count++
  if (settled) return settled
  await requireMined(t, hash, timeoutMs)
  return { receipt: undefined, isExecuted: seenAt !== undefined }
}

/** @throws Untestable when the chain knows the transaction and has not mined it in time */
async function requireMined(t: CheckContext, hash: string, timeoutMs: number): Promise<void> {
  if (await t.chain.send('eth_getTransactionByHash', [hash])) {
    throw new Untestable(`the transaction ${hash} is still pending after ${timeoutMs / 1000} s`)
  }
  t.patience.disappointed()
}

/**
 * Waits until the transaction is mined.
 *
 * @param timeoutMs absent: as long as the run waits for transactions
 * @returns undefined when the chain does not come to know the transaction in time
 * @throws Untestable when the chain knows it and does not mine it in time
 */
export async function waitForReceipt(
  t: CheckContext,
  hash: string,
  timeoutMs = t.patience.receiptMs(),
): Promise<Receipt | undefined> {
  const receipt = await poll(() => readReceipt(t, hash), timeoutMs)
  if (receipt) return receipt
  await requireMined(t, hash, timeoutMs)
  return undefined
}

/** Adds to each transaction its outcome and its cost, as far as the chain tells them. */
export function describeTransactions(
  chain: ChainTruth,
  transactions: SpendingAccount['transactions'],
): Promise<CausedTransaction[]> {
  return Promise.all(
    transactions.map(async (caused): Promise<CausedTransaction> => {
      try {
        const receipt = (await chain.send('eth_getTransactionReceipt', [caused.hash])) as Receipt | null
        if (!receipt) return { ...caused, status: 'not found' }
        const gasUsed = BigInt(receipt.gasUsed)
        return {
          ...caused,
          status: receipt.status === '0x1' ? 'succeeded' : 'reverted',
          gasUsed: String(gasUsed),
          ...(receipt.effectiveGasPrice ? { feeWei: String(gasUsed * BigInt(receipt.effectiveGasPrice)) } : {}),
        }
      } catch (error) {
        if (error instanceof Untestable) return caused
        throw error
      }
    }),
  )
}
