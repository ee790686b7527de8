import { performance } from 'node:perf_hooks'
import { setTimeout as delay } from 'node:timers/promises'
import type { CheckContext } from '../context.ts'
import { Untestable } from '../outcome.ts'

/** A log entry of a receipt, as the node gives it. */
export interface ReceiptLog {
  readonly address: string
  readonly topics: readonly string[]
  readonly data: string
}

/** A receipt, as the node gives it. */
export interface Receipt {
  readonly transactionHash: string
  readonly blockNumber: string
  readonly transactionIndex: string
  /** `0x1`: succeeded, `0x0`: reverted. */
  readonly status: string
  readonly gasUsed: string
  readonly effectiveGasPrice?: string
  readonly logs: readonly ReceiptLog[]
}

/**
 * Asks until there is something, ever slower.
 * @returns undefined when there is nothing within `timeoutMs`
 */
export async function poll<T>(ask: () => Promise<T | null | undefined>, timeoutMs: number): Promise<T | undefined> {
  const deadline = performance.now() + timeoutMs
  for (let pauseMs = 10; ; pauseMs = Math.min(pauseMs * 1.5, 1000)) {
    const found = await ask()
    if (found !== null && found !== undefined) return found
    const leftMs = deadline - performance.now()
    if (leftMs <= 0) return undefined
    await delay(Math.min(pauseMs, leftMs))
  }
}

/**
 * Waits until the transaction is mined.
 *
 * @returns undefined when the chain does not come to know it within the run's patience
 * @throws Untestable when the chain knows it and does not mine it in that time
 */
export async function waitForReceipt(t: CheckContext, hash: string): Promise<Receipt | undefined> {
  const timeoutMs = t.patience.receiptMs()
  const ask = async () => (await t.chain.send('eth_getTransactionReceipt', [hash])) as Receipt | null
  const receipt = await poll(ask, timeoutMs)
  if (receipt) return receipt
  if (await t.chain.send('eth_getTransactionByHash', [hash])) {
    throw new Untestable(`the transaction ${hash} is still pending after ${timeoutMs / 1000} s`)
  }
  t.patience.disappointed()
  return undefined
}

/** Whether the chain comes to know a transaction by that hash, mined or pending, within the run's patience. */
export async function isKnown(t: CheckContext, hash: string): Promise<boolean> {
  const ask = async () => (await t.chain.send('eth_getTransactionByHash', [hash])) as object | null
  if (await poll(ask, t.patience.receiptMs())) return true
  t.patience.disappointed()
  return false
}
