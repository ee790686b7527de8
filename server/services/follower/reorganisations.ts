import { ServiceError } from '../../core/errors.ts'
import type { Upstream } from '../node/upstream.ts'
import type { Head, Ages, FollowerOptions } from './look.ts'
import type { FinalBlock } from '../ledger/settle.ts'
import { finalBlocks, hasOpen, reopenBlocks, reopen } from '../ledger/open-relays.ts'
import { nextNonceOf, type NonceRange } from '../ledger/signer-accounts.ts'
import { accountKey } from '../relayer/account-queue.ts'
import type { Fees } from '../../ethereum/transaction.ts'
import { CANCEL_GAS } from './attempts.ts'

interface RpcBlock {
  readonly number: string
  readonly hash: string
  readonly parentHash: string
  readonly timestamp: string
}

/** Reads the head of the chain, and notices that a head which it read before is no longer part of the chain. */
interface HeadReader {
  /** The head of the chain now. @throws ServiceError UPSTREAM_UNAVAILABLE */
  read(): Promise<Head>
  /**
   * Reads the head when only a reorganisation could give the follower work, and nobody else may tell it. An hour after
   * `read` was called last, nothing is checked again, and the node is not asked. @throws ServiceError UPSTREAM_UNAVAILABLE
   */
  watch(): Promise<void>
}

/** @param onReplaced awaited before the new head is returned. When it fails, the next read calls it again */
export function createHeadReader(
  { upstream, clock }: Pick<FollowerOptions, 'upstream' | 'clock'>,
  onReplaced: () => Promise<void>,
): HeadReader {
  /** The highest head that was part of the chain when it was read. */
  let highest: Head | undefined
  // Another process may have made relays final, a moment before this one has started.
  let neededAtMs = clock.monotonicMs()
  const readBlock = (block: string) => upstream.request<RpcBlock | null>('eth_getBlockByNumber', [block, false])

  async function isReplaced(before: Head, head: Head, parentHash: string): Promise<boolean> {
    if (head.hash === before.hash || parentHash === before.hash) return false
    if (head.number === before.number) return true
    const block = await readBlock(`0x${before.number.toString(16)}`)
    return block !== null && block.hash !== before.hash
  }

  async function readLatest(): Promise<Head> {
    const block = await readBlock('latest')
    // The node has just started, or has lost its database.
    if (block === null) throw new ServiceError('UPSTREAM_UNAVAILABLE', 'the node has no latest block')
    const head = { number: Number(block.number), hash: block.hash, timestamp: Number(block.timestamp) }
    const before = highest
    // Another node than before may have answered, and may be behind. The chain is compared when it has grown again.
    if (before && head.number < before.number) return head
    // Set at once, so that looks at several accounts do not all tell of one reorganisation.
    highest = head
    try {
      if (before && (await isReplaced(before, head, block.parentHash))) await onReplaced()
    } catch (err) {
      highest = before
      throw err
    }
    return head
  }

  return {
    read: () => {
      neededAtMs = clock.monotonicMs()
      return readLatest()
    },
    watch: async () => {
      if (clock.monotonicMs() - neededAtMs < RECHECKED_MS) await readLatest()
    },
  }
}

/** Notices reorganisations that went deeper than `chain.confirmations`. */
interface DeepReorganisations {
  /**
   * Called when the chain has other blocks than before, from an unknown block on. Final relays whose block is gone are
   * followed again, because the chain may have them in another block with another outcome. Relays that were given up at a
   * block that is gone are followed again, too: what had used their nonces may be gone.
   */
  recheck(): Promise<void>
  /**
   * Notices that the chain has not used a nonce of the account whose relay is final. The relay is followed again: a caller was
   * promised it, and every later transaction of the account waits for its nonce.
   *
   * @param chainNonce the account's next nonce on the chain
   * @param firstOpen the account nonce of the first relay that is not final; undefined: there is none
   * @returns whether the account is to be looked at again, from `chainNonce` on
   */
  look(account: string, chainNonce: number, firstOpen: number | undefined): Promise<boolean>
}

type DeepReorganisationsOptions = Pick<
  FollowerOptions,
  | 'chainId'
  | 'clock'
  | 'database'
  | 'upstream'
  | 'broadcaster'
  | 'fees'
  | 'signerOf'
  | 'log'
  | 'lostAfterMs'
  | 'replaceAfterMs'
> & { readonly ages: Ages }

/** Only blocks with relays that were accepted within this time are checked again, in milliseconds. */
const RECHECKED_MS = 3_600_000
/**
 * When the chain still has so many blocks in a row, it is assumed to have those below, too. A single block would prove
 * nothing: since the reorganisation, relays may have become final in blocks of the new chain.
 */
const KEPT_IN_A_ROW = 16

export function createDeepReorganisations(options: DeepReorganisationsOptions): DeepReorganisations {
  const { database, upstream, ages, clock, log, lostAfterMs } = options
  /** By account: the missing nonce that was logged last. */
  const logged = new Map<string, number>()
  const useUp = createUseUp(options)

  return {
    recheck: async () => {
      const sinceMs = clock.nowMs() - RECHECKED_MS
      const gone: string[] = []
      let keptInARow = 0
      for (const block of await finalBlocks(database.db, sinceMs)) {
        if (await isGone(upstream, block)) gone.push(block.hash)
        keptInARow = gone.at(-1) === block.hash ? 0 : keptInARow + 1
        if (keptInARow === KEPT_IN_A_ROW) break
      }
      const reopened = await reopenBlocks(database.db, gone, sinceMs)
      if (reopened > 0) {
        log.error(
          { blocks: gone.length, reopened },
          'a reorganisation went deeper than chain.confirmations: what was in its blocks is followed again',
        )
      }
    },
    look: async (account, chainNonce, firstOpen) => {
      const below = firstOpen ?? (await nextNonceOf(database.db, account)) ?? chainNonce
      const isMissing = chainNonce < below
      const missingForMs = ages.see(`missing: ${account}`, isMissing ? ['a nonce'] : [])('a nonce')
      if (!isMissing) return false
      if (missingForMs < lostAfterMs) return true
      const reopened = await reopen(database.db, account, { from: chainNonce, below })
      const found = { signer: account, chainNonce, below, reopened }
      if (reopened > 0) {
        log.error(found, 'a reorganisation went deeper than chain.confirmations: its relays are sent again')
        return true
      }
      // A recheck has opened them since the account's relays were read: the next look finds them.
      if (await hasOpen(database.db, account, { from: chainNonce, below })) return true
      if (logged.get(account) !== chainNonce) {
        logged.set(account, chainNonce)
        log.error(found, 'the chain lacks a nonce of a signer, and the ledger has no relay for it: it is used up')
      }
      await useUp(account, { from: chainNonce, below })
      return true
    },
  }
}

/** What was offered last for the first missing nonce of an account. */
interface Offer {
  readonly nonce: number
  readonly fees: Fees
  readonly atMs: number
  readonly isRaised: boolean
  /** Of the latest block then. */
  readonly height: number
}

/**
 * Something that is not in the ledger had used these nonces, and a reorganisation has dropped it. Every later transaction of
 * the account waits for them. So each nonce is used up by a transaction that does nothing else, unless a node has a
 * transaction with it already. That one may offer too little: then the first missing nonce is signed again, for higher
 * fees each time, but once at most while no block comes.
 */
function createUseUp(options: DeepReorganisationsOptions): (account: string, nonces: NonceRange) => Promise<void> {
  const { chainId, database, upstream, broadcaster, signerOf, clock, replaceAfterMs } = options
  /** By account: the first missing nonce, and the fees that were offered for it last. */
  const offered = new Map<string, Offer>()

  return async (account, { from, below }) => {
    const signer = signerOf(account)
    if (!signer) return
    const known = Number(await upstream.request<string>('eth_getTransactionCount', [account, 'pending']))
    const last = offered.get(account)
    const isNew = known < below || last?.nonce !== from
    if (!isNew && clock.monotonicMs() - last.atMs < replaceAfterMs) return
    const height = Number(await upstream.request<string>('eth_blockNumber', []))
    if (!isNew && last.isRaised && height <= last.height) return
    const fees = isNew ? await options.fees.current() : await options.fees.raised(last.fees)
    if (fees === null) return
    offered.set(account, { nonce: from, fees, atMs: clock.monotonicMs(), isRaised: !isNew, height })
    const first = isNew ? known : from
    const end = isNew ? below : from + 1
    const what = { chainId, to: account, gasLimit: CANCEL_GAS, data: '0x', fees }
    const missing = Array.from({ length: Math.max(0, end - first) }, (_, index) =>
      signer.sign({ ...what, nonce: first + index }),
    )
    if (missing.length > 0) await database.exclusively(accountKey(account), () => broadcaster.send(missing))
  }
}

/** Whether the chain has another block of that number now. */
async function isGone(upstream: Upstream, { number, hash }: FinalBlock): Promise<boolean> {
  const block = await upstream.request<{ hash: string } | null>('eth_getBlockByNumber', [
    `0x${number.toString(16)}`,
    false,
  ])
  // A node that is behind has no block of that number yet. That proves nothing.
  return block !== null && block.hash !== hash
}
