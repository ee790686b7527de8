import { sql } from 'kysely'
import { anyOf } from '../database/any-of.ts'
import type { Queries } from '../database/database.ts'
import { transactionData } from '../signers/transaction-data.ts'

/** One (key manager, signer, channel): its calls execute in the order of their nonces. */
export interface ChannelKey {
  readonly profile: string
  readonly keyManager: string
  readonly signer: string
  readonly channel: bigint
}

/** What the ledger knows of a channel and of calls that came for it. */
export interface ChannelState {
  /** Accepted and not mined, in nonce order. */
  readonly pending: readonly PendingCall[]
  /** Of the calls asked about: the hash that was given for them, by identity. */
  readonly known: ReadonlyMap<string, string>
}

export interface PendingCall {
  readonly nonce: bigint
  readonly identity: string
  readonly callData: string
  /** The relayer's account that sends it. */
  readonly account: string
}

export interface ChannelQuestion {
  readonly key: ChannelKey
  /** The nonce from which on the channel's pending calls are wanted. */
  readonly from: bigint
  readonly identities: readonly string[]
}

/** Beyond every nonce: nothing pending is wanted. */
export const END_OF_NONCES = 1n << 256n

/** Answers many questions with two statements. */
export async function lookUp(db: Queries, questions: readonly ChannelQuestion[]): Promise<ChannelState[]> {
  const keys = questions.map(({ key }) => key)
  const identities = questions.flatMap((question) => question.identities)
  const asked = sql<{ at: number; key_manager: string; signer: string; first: string; last: string }>`unnest(
    ${keys.map((_, at) => at)}::integer[],
    ${keys.map(({ keyManager }) => keyManager)}::text[],
    ${keys.map(({ signer }) => signer)}::text[],
    ${questions.map(({ from }) => String(from))}::numeric[],
    ${keys.map(({ channel }) => String(((channel + 1n) << 128n) - 1n))}::numeric[])`
  const [pending, known] = await Promise.all([
    db
      .selectFrom('relays')
      .innerJoin(asked.as<'asked'>(sql`asked(at, key_manager, signer, first, last)`), (join) =>
        join
          .onRef('relays.key_manager', '=', 'asked.key_manager')
          .onRef('relays.signer', '=', 'asked.signer')
          .on((row) => row.between(row.ref('relays.nonce'), row.ref('asked.first'), row.ref('asked.last'))),
      )
      // The first one: it carries the call, which later ones may not.
      .innerJoin('attempts', 'attempts.hash', 'relays.hash')
      .where('relays.status', '=', 'pending')
      .orderBy('relays.nonce')
      .select(['asked.at', 'relays.nonce', 'relays.identity', 'attempts.raw', 'relays.account'])
      .execute(),
    identities.length === 0
      ? []
      : db
          .selectFrom('relays')
          .where('status', '<>', 'abandoned')
          .where('identity', '=', anyOf(identities))
          .select(['identity', 'hash'])
          .execute(),
  ])
  const hashes = new Map(known.map(({ identity, hash }) => [identity, hash]))
  const byQuestion = Map.groupBy(pending, ({ at }) => at)
  return keys.map((_, at) => ({
    pending: (byQuestion.get(at) ?? []).map(({ nonce, identity, raw, account }) => ({
      nonce: BigInt(nonce),
      identity,
      callData: transactionData(raw),
      account,
    })),
    known: hashes,
  }))
}
