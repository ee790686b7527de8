import { sql } from 'kysely'
import { anyOf, transactionOf } from '../database/tables.ts'
import type { Queries } from '../database/database.ts'
import { createCallReader } from '../../ethereum/bundle.ts'
import type { RelayCall } from '../../core/define.ts'
import type { KnownCall, ProfilePlace } from '../relay-services.ts'

/** One (key manager, signer, channel): its calls execute in the order of their nonces. */
export interface ChannelKey {
  readonly keyManager: string
  readonly signer: string
  readonly channel: bigint
}

/** What the ledger knows of a channel, and of calls that a question names. */
export interface ChannelState {
  /** The calls that are accepted and not mined, in the order of their nonces. */
  readonly pending: readonly PendingCall[]
  /** Of the calls that the question names, those that are pending or have succeeded: by identity, the hash that was answered. */
  readonly known: ReadonlyMap<string, string>
}

export interface PendingCall {
  readonly nonce: bigint
  readonly callData: string
  /** The relayer's account that sends it. */
  readonly account: string
}

export interface ChannelQuestion {
  readonly key: ChannelKey
  /** The nonce from which on the channel's pending calls are wanted. */
  readonly from: bigint
  /**
   * Whether mined calls count as pending until they are final. For a question whose `from` is the channel's next nonce on the
   * chain: a mined call at or above it was dropped by a reorganisation, or lies in a block that the node has not seen yet.
   * Default false.
   */
  readonly alsoMined?: boolean
  readonly identities: readonly string[]
}

/** Answers many questions by two statements, in the order of the questions. */
export async function lookUp(db: Queries, questions: readonly ChannelQuestion[]): Promise<ChannelState[]> {
  const identities = questions.flatMap((question) => question.identities)
  const [pending, known] = await Promise.all([
    pendingRows(db, questions),
    identities.length === 0
      ? []
      : db
          .selectFrom('relays')
          .where('status', 'in', ['pending', 'succeeded'])
          .where('identity', '=', anyOf(identities))
          .orderBy('created_at_ms')
          .select(['identity', transactionOf.as('hash')])
          .execute(),
  ])
  const hashes = new Map(known.map(({ identity, hash }) => [identity, hash]))
  const callOf = createCallReader()
  const byQuestion = Map.groupBy(pending, ({ at }) => at)
  return questions.map((_, at) => ({
    pending: (byQuestion.get(at) ?? []).map(({ nonce, raw, place, account }) => ({
      nonce: BigInt(nonce),
      callData: callOf(raw, place).data,
      account,
    })),
    known: hashes,
  }))
}

/** The pending calls that questions ask for, each with the index of its question, in the order of their nonces. */
async function pendingRows(db: Queries, questions: readonly ChannelQuestion[]) {
  const keys = questions.map(({ key }) => key)
  const asked = sql<{
    at: number
    key_manager: string
    signer: string
    first: string
    last: string
    also_mined: boolean
  }>`unnest(
    ${keys.map((_, at) => at)}::integer[],
    ${keys.map(({ keyManager }) => keyManager)}::text[],
    ${keys.map(({ signer }) => signer)}::text[],
    ${questions.map(({ from }) => String(from))}::numeric[],
    ${keys.map(({ channel }) => String(((channel + 1n) << 128n) - 1n))}::numeric[],
    ${questions.map(({ alsoMined = false }) => alsoMined)}::boolean[])`
  return (
    db
      .selectFrom('relays')
      .innerJoin(asked.as<'asked'>(sql`asked(at, key_manager, signer, first, last, also_mined)`), (join) =>
        join
          .onRef('relays.key_manager', '=', 'asked.key_manager')
          .onRef('relays.signer', '=', 'asked.signer')
          .on((row) => row.between(row.ref('relays.nonce'), row.ref('asked.first'), row.ref('asked.last'))),
      )
      // The first attempt: a later one may have left the call out.
      .innerJoin('attempts', (join) => join.on('attempts.hash', '=', transactionOf))
      .where('relays.status', 'in', ['pending', 'succeeded'])
      .where('relays.superseded', '=', false)
      .where((row) =>
        row.or([
          row('relays.status', '=', 'pending'),
          row.and([row.ref('asked.also_mined'), row('relays.final', '=', false)]),
        ]),
      )
      .orderBy('relays.nonce')
      .select(['asked.at', 'relays.nonce', 'attempts.raw', 'relays.place', 'relays.account'])
      .execute()
  )
}

/**
 * The calls that were accepted at these places and not given up. Those that have reverted come last: the same call may have
 * been accepted again.
 *
 * @returns a list for each place
 */
export async function acceptedAt(db: Queries, places: readonly ProfilePlace[]): Promise<KnownCall[][]> {
  const asked = sql<{ at: number; profile: string; nonce: string }>`unnest(
    ${places.map((_, at) => at)}::integer[],
    ${places.map(({ profile }) => profile)}::text[],
    ${places.map(({ nonce }) => String(nonce))}::numeric[])`
  const rows = await db
    .selectFrom('relays')
    .innerJoin(asked.as<'asked'>(sql`asked(at, profile, nonce)`), (join) =>
      join.onRef('relays.profile', '=', 'asked.profile').onRef('relays.nonce', '=', 'asked.nonce'),
    )
    .where('relays.status', '<>', 'abandoned')
    .select(['asked.at', 'relays.key_manager', 'relays.identity', transactionOf.as('hash')])
    .orderBy(sql`relays.status = 'reverted'`)
    .orderBy('relays.created_at_ms', 'desc')
    .execute()
  const byPlace = Map.groupBy(rows, ({ at }) => at)
  return places.map((_, at) =>
    (byPlace.get(at) ?? []).map(({ key_manager, identity, hash }) => ({
      keyManager: key_manager,
      identity,
      transactionHash: hash,
    })),
  )
}

/** The place of a call in its channel. */
export type ChannelPlace = Pick<ChannelKey, 'keyManager' | 'signer'> & { readonly nonce: bigint }

/**
 * The relayer's accounts that have sent the calls directly before these in their channels, as long as those are not final. A
 * reorganisation may drop both calls, and only transactions of one account are sure to be mined again in their order.
 *
 * @returns one for each place; undefined where there is no such call, or it is final
 */
export async function sendersBefore(db: Queries, places: readonly ChannelPlace[]): Promise<(string | undefined)[]> {
  const { rows } = await sql<{ senders: readonly (string | null)[] }>`select senders_of(
    ${places.map(({ keyManager }) => keyManager)}::text[],
    ${places.map(({ signer }) => signer)}::text[],
    ${places.map(({ nonce }) => String(nonce - 1n))}::numeric[]) as senders`.execute(db)
  return places.map((_, at) => rows[0]?.senders[at] ?? undefined)
}

/** Which of some calls, and which of their nonces, the ledger already has. */
export interface Taken {
  /** By identity, the hash that was answered for a call. A call that reverted is not listed: its nonce is free again. */
  readonly byIdentity: Map<string, string>
  /** Nonces of calls that are pending or have succeeded, with key manager and signer. */
  readonly nonces: Set<string>
}

export const nothingTaken = (): Taken => ({ byIdentity: new Map(), nonces: new Set() })

/** Looks up which of these calls, and which of their nonces, the ledger already has. */
export async function takenBy(db: Queries, calls: readonly RelayCall[]): Promise<Taken> {
  const asked = sql<{ key_manager: string; signer: string; nonce: string }>`unnest(
    ${calls.map(({ keyManager }) => keyManager)}::text[],
    ${calls.map(({ signer }) => signer)}::text[],
    ${calls.map(({ nonce }) => String(nonce))}::numeric[])`
  const askedAs = asked.as<'asked'>(sql`asked(key_manager, signer, nonce)`)
  const rows = await db
    .selectFrom(askedAs)
    .innerJoin('relays', (join) =>
      join
        .onRef('relays.key_manager', '=', 'asked.key_manager')
        .onRef('relays.signer', '=', 'asked.signer')
        .onRef('relays.nonce', '=', 'asked.nonce'),
    )
    .where('relays.status', 'in', ['pending', 'succeeded'])
    .where('relays.superseded', '=', false)
    .select(['relays.identity', transactionOf.as('hash'), 'relays.key_manager', 'relays.signer', 'relays.nonce'])
    .execute()
  const taken = nothingTaken()
  for (const { identity, hash, key_manager, signer, nonce } of rows) {
    taken.byIdentity.set(identity, hash)
    taken.nonces.add(nonceKeyOf(key_manager, signer, BigInt(nonce)))
  }
  return taken
}

export const nonceKeyOf = (keyManager: string, signer: string, nonce: bigint) => `${keyManager}:${signer}:${nonce}`
