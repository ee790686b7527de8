import type { Unsent } from '../ledger/signer-accounts.ts'
import type { Broadcaster } from './broadcast.ts'
import type { RelayObserver } from './observer.ts'

export interface AccountSenderOptions {
  readonly broadcaster: Broadcaster
  readonly observer: RelayObserver
}

interface Batch {
  /** In the order of their nonces. */
  readonly transactions: readonly Unsent[]
  readonly resolve: () => void
}

/**
 * Sends the stored transactions of one account in the order of their nonces, while somebody holds the account. After the
 * first transaction that no node takes it sends no more: the follower sends those, and what comes behind them.
 */
export class AccountSender {
  readonly #options: AccountSenderOptions
  #batches: Batch[] = []
  #sending: Promise<void> | undefined
  #isStopped = false

  constructor(options: AccountSenderOptions) {
    this.#options = options
  }

  /** Whether some transaction was not offered to a node. */
  get isStopped(): boolean {
    return this.#isStopped
  }

  /** Until everything is sent, or left to the follower; undefined: nothing is being sent. */
  get sending(): Promise<void> | undefined {
    return this.#sending
  }

  /** Sends nothing more: a transaction is missing before the next one. */
  stop(): void {
    this.#isStopped = true
  }

  /**
   * @param transactions behind those of earlier calls, in the order of their nonces
   * @returns when nodes have them, or they are left to the follower
   */
  send(transactions: readonly Unsent[]): Promise<void> {
    if (transactions.length === 0) return Promise.resolve()
    return new Promise((resolve) => {
      this.#batches.push({ transactions, resolve })
      this.#sending ??= this.#sendAll()
    })
  }

  /** Sends what has gathered, and what gathers meanwhile. */
  async #sendAll(): Promise<void> {
    // The calls of one database transaction are handed over one after the other, and sent together.
    await Promise.resolve()
    while (this.#batches.length > 0) {
      const batches = this.#batches
      this.#batches = []
      if (!this.#isStopped) await this.#sendTogether(batches)
      for (const { resolve } of batches) resolve()
    }
    this.#sending = undefined
  }

  async #sendTogether(batches: readonly Batch[]): Promise<void> {
    const { broadcaster, observer } = this.#options
    // Batches may share a transaction, which is sent once.
    const byHash = new Map(batches.flatMap((batch) => batch.transactions).map((one) => [one.hash, one]))
    const transactions = [...byHash.values()]
    const hashes = [...byHash.keys()]
    const endingWith = Map.groupBy(batches, (batch) => batch.transactions.at(-1)?.hash)
    const { taken } = await observer.send(hashes, () =>
      broadcaster.send(transactions, (index) => endingWith.get(hashes[index])?.forEach(({ resolve }) => resolve())),
    )
    this.#isStopped = taken < transactions.length
  }
}
