import { sql } from 'kysely'
import type { Queries } from '../database/database.ts'
import type { Acceptance } from './acceptance.ts'

/** What the ledger already has of some calls. */
export interface Taken {
  /** Hash that was given for a call, by its identity; not for one that reverted, which gave its nonce back. */
  readonly byIdentity: Map<string, string>
  /** Nonces of calls that are pending or have succeeded; the same call has the same nonce. */
  readonly nonces: Set<string>
}

export const nothingTaken = (): Taken => ({ byIdentity: new Map(), nonces: new Set() })

/** Which of these calls, or of their nonces, the ledger already has. */
export async function takenBy(db: Queries, acceptances: readonly Acceptance[]): Promise<Taken> {
  const calls = acceptances.map(({ call }) => call)
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
    .select(['relays.identity', 'relays.hash', 'relays.key_manager', 'relays.signer', 'relays.nonce'])
    .execute()
  const taken = nothingTaken()
  for (const { identity, hash, key_manager, signer, nonce } of rows) {
    taken.byIdentity.set(identity, hash)
    taken.nonces.add(nonceKeyOf(key_manager, signer, BigInt(nonce)))
  }
  return taken
}

export const nonceKeyOf = (keyManager: string, signer: string, nonce: bigint) => `${keyManager}:${signer}:${nonce}`
