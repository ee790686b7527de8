import { sql, type Kysely } from 'kysely'
import type { Migration } from 'kysely/migration'

/**
 * The functions keep the plans of their first run, when the tables may still be small. Then a join that reads a table
 * from end to end, by an index, looks cheap; and so it was done for as long as the connection lasted.
 */
export const migration: Migration = {
  async up(db: Kysely<unknown>) {
    const functions = {
      store_relays: 'text[], bigint[], bigint[], text[], integer[], numeric[], boolean, json',
      change_relays: 'text[], integer[], numeric[], json',
    }
    for (const [name, parameters] of Object.entries(functions)) {
      for (const join of ['hashjoin', 'mergejoin']) {
        await sql.raw(`alter function ${name}(${parameters}) set enable_${join} = off`).execute(db)
      }
    }
  },
}
