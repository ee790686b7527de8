import type { RelayCall } from '../../core/define.ts'
import type { Clock } from '../clock.ts'
import type { ChannelPlace } from '../ledger/lookup.ts'
import { microBatch } from '../../concurrency/micro-batch.ts'

/**
 * Which account of the relayer sends the calls of a channel. A channel stays with one account until its last call is
 * final: a reorganisation drops transactions of many accounts at once, and only those of one account are sure to be mined
 * again in their order. A call that is mined before the one that precedes it reverts, and its profile is charged.
 */
export interface ChannelSenders {
  /**
   * @param calls of one channel, in nonce order
   * @returns the account that must send them; undefined: any
   */
  before(calls: readonly RelayCall[]): Promise<string | undefined>
  /** Remembers who has sent a call. */
  keep(call: RelayCall, account: string): void
}

export interface ChannelSendersOptions {
  readonly sendersBefore: (places: readonly ChannelPlace[]) => Promise<(string | undefined)[]>
  /** The accounts for which this process can sign. */
  readonly accounts: ReadonlySet<string>
  readonly clock: Clock
}

/** For this time the sender of a call is remembered here; afterwards the ledger is asked, where the call may be final. */
const REMEMBERED_MS = 5_000
/** The most channels; the one that was used longest ago goes first. */
const MAX_REMEMBERED = 10_000
/** The most channels in one look into the ledger. */
const MAX_TOGETHER = 64
const ID_MASK = (1n << 128n) - 1n

interface Sent {
  readonly account: string
  readonly nonce: bigint
  readonly atMs: number
}

export function createChannelSenders({ sendersBefore, accounts, clock }: ChannelSendersOptions): ChannelSenders {
  const latest = new Map<string, Sent>()
  const ask = microBatch(sendersBefore, { maxItems: MAX_TOGETHER })
  return {
    before: async ([first]) => {
      // Who has one account has no choice.
      if (!first || (first.nonce & ID_MASK) === 0n || accounts.size === 1) return undefined
      const sent = latest.get(nameOf(first))
      if (sent?.nonce === first.nonce - 1n && clock.monotonicMs() - sent.atMs <= REMEMBERED_MS) return sent.account
      const account = await ask(first)
      // The key was removed, or another process has it. Then any account may send the call.
      return account !== undefined && accounts.has(account) ? account : undefined
    },
    keep: (call, account) => {
      const name = nameOf(call)
      latest.delete(name)
      latest.set(name, { account, nonce: call.nonce, atMs: clock.monotonicMs() })
      const [oldest] = latest.keys()
      if (latest.size > MAX_REMEMBERED && oldest !== undefined) latest.delete(oldest)
    },
  }
}

const nameOf = ({ keyManager, signer, nonce }: RelayCall) => `${keyManager}:${signer}:${nonce >> 128n}`
