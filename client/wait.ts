import type { Endpoints } from './endpoint.ts'
import type { TransactionStatus } from '../specs/index.ts'
import { assertPositive, isHash, type Hex } from './encoding.ts'
import { objectOf, post, sleep, type Fetch, type Patience } from './post.ts'
import { isRelayError, RelayError } from './relay-error.ts'
import type { Rpc } from './chain.ts'

export interface WaitOptions {
  /** Blocks from that of the transaction to the head, both counted. Default 1: it is mined. */
  readonly confirmations?: number
  /** Default 120,000. */
  readonly timeoutMs?: number
  readonly signal?: AbortSignal
}

/** The outcome of a transaction. */
export type Outcome =
  | {
      /** `reverted`: the transaction was mined and had no effect. */
      readonly status: 'executed' | 'reverted'
      /** Hash of the mined transaction. The relay may have replaced the one that you asked for. */
      readonly transactionHash: Hex
      readonly blockNumber: bigint
      readonly gasUsed: bigint
    }
  /** The relay has given the transaction up: it will not be mined. */
  | { readonly status: 'abandoned'; readonly transactionHash: Hex }

interface Receipt {
  readonly transactionHash: Hex
  readonly blockNumber: Hex
  readonly gasUsed: Hex
  readonly status: Hex
}

const FIRST_PAUSE_MS = 100
const LONGEST_PAUSE_MS = 2_000

/**
 * Waits for the receipt of a transaction. The reference server names at `GET /transactions/{hash}` the transaction that has
 * replaced it. When a relay has no such path, the client waits for the transaction itself.
 */
export function createWait(relayAt: Endpoints, rpc: Rpc, options: Patience & { readonly fetch: Fetch }) {
  const receiptOf = async (hash: Hex) => (await rpc('eth_getTransactionReceipt', [hash])) as Receipt | null
  /** Whether the relay may have the path. A relay that answers in another form does not have it. */
  let isTold = true
  const statusOf = async (hash: Hex, signal?: AbortSignal): Promise<TransactionStatus | undefined> => {
    if (!isTold) return undefined
    const { answer, error } = await post(relayAt(`/transactions/${hash}`), { ...options, attempts: 1, signal })
    const status = answer && !error ? asStatus(answer.text) : undefined
    if (answer && !status && answer.status < 500) isTold = isRelayError(error) && error.code !== 'UNKNOWN'
    return status
  }

  return async (
    hash: string,
    { confirmations = 1, timeoutMs = 120_000, signal }: WaitOptions = {},
  ): Promise<Outcome> => {
    if (!isHash(hash)) throw new TypeError(`no transaction hash: ${hash}`)
    assertPositive('confirmations', confirmations)
    assertPositive('timeoutMs', timeoutMs)
    const endMs = performance.now() + timeoutMs
    let latest: Hex = hash
    for (let pauseMs = FIRST_PAUSE_MS; ; pauseMs = Math.min(2 * pauseMs, LONGEST_PAUSE_MS)) {
      signal?.throwIfAborted()
      const receipt = await receiptOf(latest)
      if (receipt && (confirmations <= 1 || (await depthOf(rpc, receipt)) >= BigInt(confirmations)))
        return outcomeOf(receipt)
      if (!receipt) {
        const status = await statusOf(hash, signal)
        if (status?.status === 'abandoned') return { status: 'abandoned', transactionHash: latest }
        const replaced = status && status.transactionHash.toLowerCase() !== latest.toLowerCase()
        if (replaced) latest = status.transactionHash as Hex
      }
      if (performance.now() + pauseMs > endMs) {
        const words = `${latest} is not mined ${confirmations > 1 ? `${confirmations} blocks deep ` : ''}after ${timeoutMs} ms`
        throw new RelayError('WAIT_TIMED_OUT', words, { details: { transactionHash: latest } })
      }
      await sleep(pauseMs, signal)
    }
  }
}

function asStatus(text: string): TransactionStatus | undefined {
  const said = objectOf(text)
  return isHash(said?.['transactionHash']) ? (said as TransactionStatus) : undefined
}

async function depthOf(rpc: Rpc, { blockNumber }: Receipt): Promise<bigint> {
  return BigInt(String(await rpc('eth_blockNumber', []))) - BigInt(blockNumber) + 1n
}

const outcomeOf = ({ status, transactionHash, blockNumber, gasUsed }: Receipt): Outcome => ({
  status: BigInt(status) === 1n ? 'executed' : 'reverted',
  transactionHash,
  blockNumber: BigInt(blockNumber),
  gasUsed: BigInt(gasUsed),
})
