import { sql, type RawBuilder } from 'kysely'

/**
 * `= any(array)`: a list as one parameter. The statement is the same for every length, and long ones are quick to read.
 *
 * @example db.selectFrom('relays').where('hash', '=', anyOf(hashes))
 */
export function anyOf(texts: readonly string[]): RawBuilder<string> {
  return sql<string>`any(${texts}::text[])`
}
