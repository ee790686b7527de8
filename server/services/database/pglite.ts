import type { PGlite } from '@electric-sql/pglite'
import { openAsBlob, readFileSync } from 'node:fs'
import { access, mkdir, rename, rm, writeFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { Duplex } from 'node:stream'
import { sql } from 'kysely'
import { createSlices } from '../../concurrency/slices.ts'
import { optionalPackage } from '../../core/optional-package.ts'
import { type DurableFiles, durableFiles } from './durable-files.ts'
import { DatabaseAwayError } from './postgres-pool.ts'
import type { Queries } from './tables.ts'

/**
 * PGlite's own default is 160 MB, which it fills with zeros at each start: a quarter of the CPU that a start takes. What
 * does not fit is read from its files again, which lie in memory, PGlite's own or that of the operating system. Reading
 * from its own costs least, so that a database in memory has the smaller ones.
 */
const SHARED_BUFFERS = { ofFolder: '16MB', inMemory: '4MB' }

/** Megabytes of a file of the write-ahead log. A new database has one such file, and each start copies it. */
const LOG_FILE_MB = 1

/**
 * Starts PGlite on the database in a folder, or on a new and empty one.
 *
 * Making a database (`initdb`) takes 3 s of CPU, unpacking one takes a third of a second. So the first one is kept as
 * an archive in `node_modules/.cache`, where build tools keep such things. When nothing can be written there, each
 * database is made.
 *
 * @param folder where its files are; undefined: in memory
 */
export async function startPGlite(folder: string | undefined, isNew: boolean, archive?: string): Promise<PGlite> {
  const { PGlite } = await optionalPackage('@electric-sql/pglite', () => import('@electric-sql/pglite'))
  const buffers = folder === undefined ? SHARED_BUFFERS.inMemory : SHARED_BUFFERS.ofFolder
  const create = async (loadDataDir?: Blob): Promise<PGlite> => {
    const files = folder === undefined ? undefined : await durableFiles(folder)
    const pglite = await PGlite.create({
      startParams: [
        ...PGlite.defaultStartParams,
        ...['-c', `shared_buffers=${buffers}`],
        ...(files?.startParams ?? []),
      ],
      initDbStartParams: [`--wal-segsize=${LOG_FILE_MB}`],
      ...(files && { fs: files.fs }),
      ...(loadDataDir && { loadDataDir }),
    })
    if (files) durable.set(pglite, files)
    return pglite
  }
  if (!isNew) return create()
  const kept = archive ?? sharedArchive()
  if (await exists(kept)) {
    try {
      return await create(await openAsBlob(kept))
    } catch {
      // The archive is damaged, or belongs to somebody else: go on without it.
      await rm(kept, { force: true }).catch(() => {})
      if (folder !== undefined) await rm(folder, { recursive: true, force: true })
    }
  }
  const pglite = await create()
  await dropTemplates(pglite)
  await keep(pglite, kept)
  return pglite
}

/** Keeps the archive, unless it is there: for a caller that is about to start many processes. */
export async function keepNewDatabase(): Promise<void> {
  if (!(await exists(sharedArchive()))) await (await startPGlite(undefined, true)).close()
}

/**
 * Drops the databases that `create database` would copy, which PGlite cannot do. They are two thirds of the thousand
 * files of a new database: without them, a start on a new folder takes half the CPU.
 */
async function dropTemplates(pglite: PGlite): Promise<void> {
  for (const name of ['template0', 'template1']) {
    await pglite.exec(`alter database ${name} is_template false`)
    await pglite.exec(`drop database ${name}`)
  }
}

/** The archive's path, with what its files depend on: the version of PGlite, and the size of a file of the log. */
function sharedArchive(): string {
  const dist = dirname(createRequire(import.meta.url).resolve('@electric-sql/pglite'))
  const { version } = JSON.parse(readFileSync(join(dist, '../package.json'), 'utf8')) as { version: string }
  return join(dist, '../../../.cache/touchstone', `new-database-${version}-${LOG_FILE_MB}.tar`)
}

/** Writes the archive under another name and renames it, so that no other process ever reads half of it. */
async function keep(pglite: PGlite, archive: string): Promise<void> {
  const written = `${archive}.${process.pid}`
  try {
    await mkdir(dirname(archive), { recursive: true })
    await writeFile(written, (await pglite.dumpDataDir('none')).stream(), { mode: 0o600 })
    await rename(written, archive)
  } catch {
    await rm(written, { force: true }).catch(() => {})
  }
}

const exists = (path: string) =>
  access(path).then(
    () => true,
    () => false,
  )

/** The files of those that are in a folder. */
const durable = new WeakMap<PGlite, DurableFiles>()

/** Those whose PostgreSQL has stopped. A further call of theirs would never end. */
const failed = new WeakSet<PGlite>()

/** Whether PostgreSQL has stopped, for example because it could not write its log. Only a new start brings it back. */
export const hasFailed = (pglite: PGlite): boolean => failed.has(pglite)

/** A PGlite that is started again after its PostgreSQL has stopped. */
export interface LastingPGlite {
  /** @throws DatabaseAwayError it has stopped, and cannot be started now */
  working(): Promise<PGlite>
  close(): Promise<void>
}

/** The waits between two starts that fail, in milliseconds: each one leaves some memory behind. */
const RESTART_WAIT_MS = { least: 1_000, most: 60_000 }

/** @param startAgain on the same files; absent: they were in memory, and a new start would not bring back what they held */
export function createLastingPGlite(first: PGlite, startAgain?: () => Promise<PGlite>): LastingPGlite {
  let current = first
  let starting: Promise<PGlite> | undefined
  let failure: unknown
  let waitMs = RESTART_WAIT_MS.least
  let notBeforeMs = 0

  async function restart(start: () => Promise<PGlite>): Promise<PGlite> {
    if (performance.now() < notBeforeMs) throw new DatabaseAwayError(failure, false)
    try {
      current = await start()
      waitMs = RESTART_WAIT_MS.least
      return current
    } catch (error) {
      failure = error
      notBeforeMs = performance.now() + waitMs
      waitMs = Math.min(waitMs * 2, RESTART_WAIT_MS.most)
      throw new DatabaseAwayError(error, false)
    }
  }

  return {
    working: async () => {
      if (!hasFailed(current)) return current
      if (!startAgain) throw new DatabaseAwayError(new Error('the embedded database has stopped'), false)
      starting ??= restart(startAgain).finally(() => (starting = undefined))
      return starting
    },
    close: async () => {
      await starting?.catch(() => {})
      if (!hasFailed(current)) await current.close()
    },
  }
}

/** How long statements may follow each other until the event loop has its turn, in milliseconds. */
const SLICE_MS = 5

/**
 * A connection to PGlite for `pg`, in place of a socket. For a statement with parameters PGlite's own client makes five
 * calls into WebAssembly, and `pg` one: a small statement takes half the time.
 */
export class PGliteStream extends Duplex {
  readonly #working: LastingPGlite['working']
  #pglite: PGlite | undefined
  /** A statement is executed at once, so that hundreds that wait would hold up the event loop one after the other. */
  readonly #inSlice = createSlices(SLICE_MS)

  constructor({ working }: Pick<LastingPGlite, 'working'>) {
    super()
    this.#working = working
  }

  // Methods that `pg` calls on a socket.
  connect(): this {
    this.#working().then(
      (pglite) => {
        this.#pglite = pglite
        this.emit('connect')
      },
      (error: Error) => this.destroy(error),
    )
    return this
  }

  setNoDelay(): this {
    return this
  }

  ref(): this {
    return this
  }

  unref(): this {
    return this
  }

  override _read(): void {}

  override _write(message: Buffer, _encoding: BufferEncoding, done: (error?: Error | null) => void): void {
    this.#inSlice(() => this.#exchange(message)).then(() => done(), done)
  }

  override _writev(messages: { chunk: Buffer }[], done: (error?: Error | null) => void): void {
    this._write(Buffer.concat(messages.map(({ chunk }) => chunk)), 'binary', done)
  }

  override _final(done: () => void): void {
    this.push(null)
    done()
  }

  /** Hands the answer on in pieces. If PGlite collected it, it would parse it, and keep what it has parsed for ever. */
  async #exchange(messages: Buffer): Promise<void> {
    const pglite = this.#pglite
    if (pglite === undefined || hasFailed(pglite)) {
      throw new DatabaseAwayError(new Error('the embedded database has stopped'), false)
    }
    const pieces: Buffer[] = []
    // The piece lies in PGlite's memory, and the next piece overwrites it: copy it.
    try {
      await pglite.execProtocolRawStream(messages, { onRawData: (piece) => pieces.push(Buffer.from(piece)) })
      await durable.get(pglite)?.logSynced()
    } catch (cause) {
      failed.add(pglite)
      throw new DatabaseAwayError(cause, true)
    }
    const answer = Buffer.concat(pieces)
    const end = endToldBy(answer)
    if (end !== undefined) {
      failed.add(pglite)
      throw new DatabaseAwayError(new Error(end), true)
    }
    this.push(answer)
  }
}

/** The message of an error of the severity PANIC or FATAL, after which PostgreSQL is gone; undefined: there is none. */
function endToldBy(answer: Buffer): string | undefined {
  for (let at = 0; at + 5 <= answer.length; at += 1 + answer.readUInt32BE(at + 1)) {
    if (answer[at] !== ERROR_RESPONSE) continue
    const fields = answer.toString('utf8', at + 5, at + 1 + answer.readUInt32BE(at + 1)).split('\0')
    if (!fields.includes('VPANIC') && !fields.includes('VFATAL')) continue
    return fields.find((field) => field.startsWith('M'))?.slice(1) ?? 'PostgreSQL has stopped'
  }
  return undefined
}

/** The type of the message: `E`. */
const ERROR_RESPONSE = 0x45

/** What a PostgreSQL server does by itself, and PGlite does not: it removes dead rows, and makes checkpoints. */
interface Upkeep {
  stop(): Promise<void>
}

/**
 * Most rows of these tables are written once or twice. A vacuum of them takes long, so it is made at the start only.
 */
const LARGE_TABLES = ['relays', 'attempts']

/**
 * A checkpoint is made when the write-ahead log has grown by so much. Without one the log grows for ever, and after a crash
 * the next start reads all of it: 256 MB in about seven seconds. A checkpoint takes about a tenth of a second.
 */
const CHECKPOINT_BYTES = 64 * 1024 * 1024
/** The log is looked at so many times as often as dead rows are removed. */
const LOOKS = 20

/**
 * Removes dead rows at intervals from the tables that change all the time, those of pg-boss among them, and keeps the
 * write-ahead log short.
 */
export function startUpkeep(db: Queries, schemas: readonly string[], everyMs: number): Upkeep {
  async function clearAway(): Promise<void> {
    const { rows } = await sql<{ name: string }>`
      select format('%I.%I', schemaname, tablename) as name from pg_tables
      where schemaname = any(${schemas}::text[]) and tablename <> all(${LARGE_TABLES}::text[])`.execute(db)
    for (const { name } of rows) await sql`vacuum ${sql.raw(name)}`.execute(db)
  }

  async function shortenLog(): Promise<void> {
    const { rows } = await sql<{ isLong: boolean }>`
      select pg_current_wal_lsn() - redo_lsn > ${CHECKPOINT_BYTES} as "isLong" from pg_control_checkpoint()`.execute(db)
    if (rows[0]?.isLong === true) await sql`checkpoint`.execute(db)
  }

  let running: Promise<void> | undefined
  let looks = 0
  const timer = setInterval(() => {
    running ??= (++looks % LOOKS === 0 ? clearAway() : shortenLog())
      // When it fails, the next one does the work.
      .catch(() => {})
      .finally(() => (running = undefined))
  }, everyMs / LOOKS).unref()
  return {
    stop: async () => {
      clearInterval(timer)
      await running
    },
  }
}
