import type { RelayCall } from '../../core/define.ts'
import { ServiceError } from '../../core/errors.ts'
import type { Upstream } from '../node/upstream.ts'
import type { Clock } from '../clock.ts'

/**
 * Refuses a call that may expire before it is mined: a transaction that does nothing would have to use up its nonce, and
 * other transactions wait behind it. A call that has expired already is left to the simulation, which says so.
 *
 * @throws ServiceError EXPIRES_TOO_SOON, UPSTREAM_UNAVAILABLE
 */
export type ExpiryCheck = (call: Pick<RelayCall, 'validityTimestamps'>) => Promise<void>

export interface ExpiryOptions {
  readonly upstream: Upstream
  readonly clock: Clock
  /** Seconds that a call must stay valid; null: some block times of the chain. */
  readonly minValiditySeconds: number | null
}

/** By default a call must stay valid for this many blocks of the average length. */
const MIN_BLOCKS = 3
/** A call must stay valid for this time at least: it is simulated, stored and sent before it is mined. */
const FLOOR_SECONDS = 10
/** A chain that makes a block for each transaction has pauses of any length. */
const MAX_BLOCK_SECONDS = 60
/** Blocks over which their time is averaged. */
const OBSERVED_BLOCKS = 16
/** How long a head is believed to be the latest. */
const HEAD_VALID_MS = 1_000
const END_MASK = (1n << 128n) - 1n

interface Block {
  readonly number: string
  readonly hash: string
  readonly timestamp: string
}

interface Observed {
  readonly head: Block
  readonly blockSeconds: number
  /** When this head was first seen, and when it was last. */
  readonly sinceMs: number
  readonly readAtMs: number
}

export function createExpiryCheck({ upstream, clock, minValiditySeconds }: ExpiryOptions): ExpiryCheck {
  let known: Observed | undefined
  let reading: Promise<Observed> | undefined

  const blockAt = (number: string) => upstream.request<Block | null>('eth_getBlockByNumber', [number, false])

  async function read(): Promise<Observed> {
    const head = await blockAt('latest')
    if (!head) throw new ServiceError('UPSTREAM_UNAVAILABLE', 'the node has no latest block')
    const readAtMs = clock.monotonicMs()
    if (known?.head.hash === head.hash) return (known = { ...known, readAtMs })
    const blocks = Math.min(OBSERVED_BLOCKS, Number(head.number))
    const before = blocks === 0 ? null : await blockAt(`0x${(Number(head.number) - blocks).toString(16)}`)
    const blockSeconds = before ? (Number(head.timestamp) - Number(before.timestamp)) / blocks : MAX_BLOCK_SECONDS
    return (known = { head, blockSeconds: Math.min(blockSeconds, MAX_BLOCK_SECONDS), sinceMs: readAtMs, readAtMs })
  }

  async function observe(): Promise<Observed> {
    if (known && clock.monotonicMs() - known.readAtMs <= HEAD_VALID_MS) return known
    return (reading ??= read().finally(() => (reading = undefined)))
  }

  return async ({ validityTimestamps }) => {
    const end = validityTimestamps & END_MASK
    if (end === 0n) return
    const { head, blockSeconds, sinceMs } = await observe()
    // The key manager compares with the time of a block, which need not be ours.
    const elapsedSeconds = Math.max(0, Math.floor((clock.monotonicMs() - sinceMs) / 1000))
    const chainSeconds = BigInt(head.timestamp) + BigInt(elapsedSeconds)
    const wantedSeconds = minValiditySeconds ?? Math.max(FLOOR_SECONDS, Math.ceil(blockSeconds * MIN_BLOCKS))
    if (end < chainSeconds || end - chainSeconds >= BigInt(wantedSeconds)) return
    throw new ServiceError(
      'EXPIRES_TOO_SOON',
      `it is valid for ${end - chainSeconds} more seconds; this service wants ${wantedSeconds}`,
      { details: { validUntil: String(end), chainTime: String(chainSeconds), minValiditySeconds: wantedSeconds } },
    )
  }
}
