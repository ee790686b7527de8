import { transactionCall, type Fees } from '../../ethereum/transaction.ts'
import { transactionFor, createCallReader } from '../../ethereum/bundle.ts'
import type { Queries } from '../database/database.ts'
import { type NewAttempt, storeAttempt } from '../ledger/attempts.ts'
import { nextNonceState } from '../ledger/lifecycle.ts'
import { rawOf, type OpenAttempt, type OpenRelay, type TriedRelay } from '../ledger/open-relays.ts'
import { accountKey } from '../relayer/account-queue.ts'
import type { SignerAccount } from '../signers/signers.ts'
import type { FollowerOptions } from './look.ts'

/** Relays that share a transaction: one, or the calls of a bundle. */
export interface Group<Relay extends OpenRelay = OpenRelay> {
  readonly relays: readonly [Relay, ...Relay[]]
  /** The relays that the next transaction shall carry. When it carries none, it only uses up the nonce. */
  readonly carried: readonly Relay[]
}

/** The relays of each transaction, in the order in which the transactions come. */
export function groupsOf<Relay extends OpenRelay>(relays: readonly Relay[]): [Relay, ...Relay[]][] {
  return [...Map.groupBy(relays, ({ transaction }) => transaction).values()] as [Relay, ...Relay[]][]
}

/** The relays that the latest transaction of a group carries; all of the group when it carries none. */
export function carriedOf<Relay extends TriedRelay>(group: readonly Relay[]): readonly Relay[] {
  const carried = group.filter((relay) => latest(relay).kind === 'call')
  return carried.length > 0 ? carried : group
}

/** Signs further transactions for relays that are not mined, stores them, and then sends them. */
export interface Attempts {
  /**
   * Signs another transaction with the same nonce: it carries the calls again, or does nothing but use up the nonce.
   *
   * @returns whether the node did not refuse it
   */
  replace(group: Group<TriedRelay>, signer: SignerAccount, fees: Fees): Promise<boolean>
  /** Signs the calls again with the account's next nonce, and at least `chainNonce`. */
  renew(group: Group, signer: SignerAccount, fees: Fees, chainNonce: number): Promise<void>
}

/** Gas of a transaction that does nothing but use up its nonce. */
export const CANCEL_GAS = 21_000n

export function createAttempts({ chainId, database, broadcaster, plans, clock }: FollowerOptions): Attempts {
  /** @returns whether the node did not refuse it */
  async function send(
    { relays: [first], carried }: Group,
    { address: account, sign }: SignerAccount,
    fees: Fees,
    wanted: Pick<NewAttempt, 'nonce' | 'seenAttempt'>,
  ): Promise<boolean> {
    const { transaction, accountNonce: seenNonce } = first
    const what =
      carried.length > 0 ? await transactionOf(database.db, carried) : { to: account, gasLimit: CANCEL_GAS, data: '0x' }
    return database.exclusively(accountKey(account), async (db) => {
      const attempt = {
        transaction,
        kind: carried.length > 0 ? ('call' as const) : ('cancel' as const),
        relays: carried.map(({ hash }) => hash),
        carries: first.place === null ? null : carried.map(({ place }) => place ?? 0),
        account,
        seenNonce,
        ...wanted,
        fees,
        gasLimit: what.gasLimit,
        sign: (taken: number) => sign({ chainId, nonce: taken, fees, ...what }),
      }
      const signed = await storeAttempt(db, attempt, { plans, nowMs: clock.nowMs() })
      return !signed || !(await broadcaster.send([signed])).isRefused
    })
  }

  return {
    replace: (group, signer, fees) => {
      const [first] = group.relays
      const carries = group.relays.some((relay) => latest(relay).kind === 'call') ? 'carries a call' : 'carries nothing'
      nextNonceState(carries, group.carried.length > 0 ? 'replaced' : 'cancelled')
      return send(group, signer, fees, { nonce: first.accountNonce, seenAttempt: latest(first).hash })
    },
    renew: async (group, signer, fees, chainNonce) => {
      await send(group, signer, fees, { nonce: { notBelow: chainNonce } })
    },
  }
}

/** A transaction for these calls, which the first attempt of their transaction carries. */
async function transactionOf(db: Queries, relays: readonly OpenRelay[]) {
  const transaction = relays[0]?.transaction ?? ''
  const raw = (await rawOf(db, [transaction])).get(transaction) ?? '0x'
  const callOf = createCallReader()
  return transactionFor(
    relays.map(({ place, gasLimit }) => ({ ...callOf(raw, place), gasLimit })),
    transactionCall(raw).to,
  )
}

/** The latest attempt for a relay. Every relay has at least the one that it was stored with. */
export function latest(relay: TriedRelay): OpenAttempt {
  const last = relay.attempts.at(-1)
  if (!last) throw new Error(`${relay.hash} has no transaction`)
  return last
}
