import type { Logger } from 'pino'
import type { Queries } from '../database/database.ts'
import { nextNonceOf, reopen } from '../ledger/open-relays.ts'
import type { Ages } from './ages.ts'

/** Notices reorganisations that went deeper than `chain.confirmations`, by the nonces that an account has lost. */
export interface DeepReorganisations {
  /**
   * The chain has not used a nonce of the account whose relay was held to be final. The relay is followed again: it was
   * promised, and everything that comes after it waits for its nonce.
   *
   * @param chainNonce the account's next nonce on the chain
   * @param firstOpen the account nonce of the first relay that is not final; undefined: there is none
   * @returns whether the account is to be looked at again, from `chainNonce` on
   */
  look(account: string, chainNonce: number, firstOpen: number | undefined): Promise<boolean>
}

export interface DeepReorganisationsOptions {
  readonly db: Queries
  readonly ages: Ages
  readonly log: Logger
  /** Time for which the nonce must be missing: a node that lags behind shows the same. */
  readonly lostAfterMs: number
}

export function createDeepReorganisations(options: DeepReorganisationsOptions): DeepReorganisations {
  const { db, ages, log, lostAfterMs } = options
  /** By account: the missing nonce that was logged last. */
  const logged = new Map<string, number>()
  return {
    look: async (account, chainNonce, firstOpen) => {
      const below = firstOpen ?? (await nextNonceOf(db, account)) ?? chainNonce
      const isMissing = chainNonce < below
      const missingForMs = ages.see(`missing: ${account}`, isMissing ? ['a nonce'] : [])('a nonce')
      if (!isMissing) return false
      if (missingForMs < lostAfterMs) return true
      const reopened = await reopen(db, account, { from: chainNonce, below })
      const found = { signer: account, chainNonce, below, reopened }
      if (reopened > 0)
        log.error(found, 'a reorganisation went deeper than chain.confirmations: its relays are sent again')
      else if (logged.get(account) !== chainNonce) {
        logged.set(account, chainNonce)
        log.error(found, 'the chain lacks a nonce of a signer, and the ledger has no relay for it')
      }
      return reopened > 0
    },
  }
}
