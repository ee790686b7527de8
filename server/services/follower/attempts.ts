import type { Fees } from '../../ethereum/sign-transaction.ts'
import type { AttemptsTable } from '../database/tables.ts'
import { storeAttempt } from '../ledger/attempts.ts'
import { nextNonceState } from '../ledger/lifecycle.ts'
import { callDataOf, type OpenAttempt, type OpenRelay, type TriedRelay } from '../ledger/open-relays.ts'
import { accountKey } from '../relayer/account-queue.ts'
import type { SignerAccount } from '../signers/signer-account.ts'
import type { FollowerOptions } from './follower-options.ts'

/** Further transactions for relays that are not mined: each is stored before it is sent. */
export interface Attempts {
  /**
   * Signs another transaction with the relay's nonce: the call again, or one that does nothing but use the nonce up.
   *
   * @returns whether the node did not refuse it
   */
  replace(relay: TriedRelay, signer: SignerAccount, kind: AttemptsTable['kind'], fees: Fees): Promise<boolean>
  /** Signs the call again with the account's next nonce, which is not below what the chain has used. */
  renew(relay: OpenRelay, signer: SignerAccount, fees: Fees, chainNonce: number): Promise<void>
}

/** Gas of a transaction that does nothing but use its nonce up. */
export const CANCEL_GAS = 21_000n

export function createAttempts({ chainId, database, broadcaster, plans, clock }: FollowerOptions): Attempts {
  /** @returns whether the node did not refuse it */
  async function send(
    relay: OpenRelay,
    { address: account, sign }: SignerAccount,
    kind: AttemptsTable['kind'],
    fees: Fees,
    nonce: number | { readonly notBelow: number },
  ): Promise<boolean> {
    const call = { to: relay.keyManager, gasLimit: relay.gasLimit, data: await callDataOf(database.db, relay.hash) }
    const what = kind === 'call' ? call : { to: account, gasLimit: CANCEL_GAS, data: '0x' }
    return database.exclusively(accountKey(account), async (db) => {
      const attempt = {
        relay: relay.hash,
        kind,
        account,
        seenNonce: relay.accountNonce,
        nonce,
        fees,
        gasLimit: what.gasLimit,
        sign: (taken: number) => sign({ chainId, nonce: taken, fees, ...what }),
      }
      const signed = await storeAttempt(db, attempt, { plans, nowMs: clock.nowMs() })
      return !signed || !(await broadcaster.send([signed])).isRefused
    })
  }

  return {
    replace: (relay, signer, kind, fees) => {
      const carries = latest(relay).kind === 'call' ? 'carries a call' : 'carries nothing'
      nextNonceState(carries, kind === 'call' ? 'replaced' : 'cancelled')
      return send(relay, signer, kind, fees, relay.accountNonce)
    },
    renew: async (relay, signer, fees, chainNonce) => {
      await send(relay, signer, 'call', fees, { notBelow: chainNonce })
    },
  }
}

/** The transaction that was signed last for a relay. Every relay has at least the one that it was stored with. */
export function latest(relay: TriedRelay): OpenAttempt {
  const last = relay.attempts.at(-1)
  if (!last) throw new Error(`${relay.hash} has no transaction`)
  return last
}
