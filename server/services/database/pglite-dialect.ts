import type { PGlite } from '@electric-sql/pglite'
import { PGliteDialect, PGliteDriver, type DatabaseConnection, type Driver } from 'kysely'

/**
 * Kysely's dialect for PGlite with one user of the connection at a time. Kysely's own hands the one connection to
 * everybody: a query that comes while a transaction is open would become part of it, and be rolled back with it.
 */
export class ExclusivePGliteDialect extends PGliteDialect {
  readonly #pglite: PGlite

  constructor(pglite: PGlite) {
    super({ pglite })
    this.#pglite = pglite
  }

  override createDriver(): Driver {
    return new ExclusivePGliteDriver({ pglite: this.#pglite })
  }
}

class ExclusivePGliteDriver extends PGliteDriver {
  #busy = false
  readonly #waiting: (() => void)[] = []

  override async acquireConnection(): Promise<DatabaseConnection> {
    if (this.#busy) await new Promise<void>((resolve) => this.#waiting.push(resolve))
    this.#busy = true
    return super.acquireConnection()
  }

  override async releaseConnection(): Promise<void> {
    const next = this.#waiting.shift()
    // The connection is handed on, so nobody who comes meanwhile can take it.
    if (next) next()
    else this.#busy = false
  }
}
