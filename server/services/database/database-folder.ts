import fs from 'node:fs'
import { chmod, mkdir, open, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { OperatorError } from '../../core/errors.ts'

/** The folder of the embedded database, checked and locked. */
export interface DatabaseFolder {
  readonly path: string
  /** Where PGlite keeps its files. */
  readonly data: string
  /** Whether the database in the folder has yet to be made. */
  readonly isNew: boolean
  /**
   * Marks a new database as complete, so that no start makes it again. Before that it takes away the rights that initdb
   * gave to others, and waits until everything is on the disk.
   */
  finish(): Promise<void>
  /** @throws OperatorError nothing can be written there */
  assertWritable(): Promise<void>
  release(): void
}

const DATA = 'pgdata'
/** The file that carries the lock. */
const LOCK_FILE = 'lock.sqlite'
const SQLITE_BUSY = 5
/** This file lies in the folder until a new database is complete. */
const UNFINISHED = 'unfinished'
const PROBE = 'probe'
/** The socket by which the server is asked to register profiles: who may open the folder may do so. */
export const PROFILES_SOCKET = 'profiles.sock'
const OURS: ReadonlySet<string> = new Set([LOCK_FILE, `${LOCK_FILE}-journal`, DATA, UNFINISHED, PROBE, PROFILES_SOCKET])
/** PostgreSQL does not start without any of these. PGlite takes a folder without the first one for a new database. */
const PARTS = ['PG_VERSION', 'global/pg_control', 'base', 'pg_wal', 'postgresql.conf']
/** Version of the PostgreSQL in PGlite. */
const POSTGRES_VERSION = '18'
/** A file of this size fits on no full disk. A file system may store a smaller one beside its blocks. */
const PROBE_BYTES = 65_536
/** Rights of group and others: they get none, because the ledger holds signed transactions and quotas. */
const OTHERS = 0o077

/**
 * Makes or checks the folder, and locks it. A folder of somebody else is left as it is.
 *
 * @throws OperatorError
 */
export async function openDatabaseFolder(folder: string): Promise<DatabaseFolder> {
  await attempt(folder, 'cannot be made', () => mkdir(folder, { recursive: true, mode: 0o700 }))
  // Advice to close a folder, or to take it over, must not meet a folder of something else.
  assertNothingElse(folder, await readdir(folder).catch(() => []))
  await assertOurs(folder)
  await assertWhole(folder)
  await assertWritable(folder)
  const lock = await lockFolder(folder)
  try {
    await chmod(path.join(folder, LOCK_FILE), 0o600)
    // Checked again under the lock: another process may just have begun a new database, and died.
    await assertWhole(folder)
    const isNew = !(await readdir(folder)).includes(DATA) || (await isUnfinished(folder))
    if (isNew) await begin(folder)
    return {
      path: folder,
      data: path.join(folder, DATA),
      isNew,
      finish: async () => {
        if (!isNew) return
        secure(path.join(folder, DATA))
        await rm(path.join(folder, UNFINISHED))
        // If this file came back after a power failure, the next start would delete the database.
        await sync(folder)
      },
      assertWritable: () => assertWritable(folder),
      release: () => lock.release(),
    }
  } catch (error) {
    lock.release()
    throw error
  }
}

const isUnfinished = async (folder: string) => (await readdir(folder)).includes(UNFINISHED)

/** Deletes what an interrupted first start has left. It never held a call. */
async function begin(folder: string): Promise<void> {
  await attempt(folder, 'cannot be written', async () => {
    await writeFile(path.join(folder, UNFINISHED), 'this database is being made\n', { mode: 0o600 })
    await rm(path.join(folder, DATA), { recursive: true, force: true })
    // After a power failure half a database must not lie there without its mark.
    await sync(folder)
  })
}

/** @throws OperatorError it is no folder, belongs to somebody else, or others may look into it */
async function assertOurs(folder: string): Promise<void> {
  const { mode, uid } = await attempt(folder, 'cannot be looked at', () => stat(folder))
  // Windows has neither these bits nor user ids.
  const user = process.getuid?.()
  if (user === undefined) return
  if (uid !== user) {
    throw folderError(
      folder,
      `belongs to another user (${uid}): run the server as that user, or: chown -R ${user} ${quoted(folder)}`,
    )
  }
  if ((mode & OTHERS) !== 0) {
    const bits = (mode & 0o777).toString(8)
    throw folderError(
      folder,
      `is open to other users (mode ${bits}). If nobody changed it, close it: chmod -R go= ${quoted(folder)}`,
    )
  }
}

/** @throws OperatorError there is something in it, and no database of this server */
function assertNothingElse(folder: string, names: readonly string[]): void {
  const foreign = names.find((name) => !OURS.has(name))
  if (foreign === undefined || names.includes(DATA)) return
  throw folderError(
    folder,
    `is not empty ('${foreign}') and holds no database of this server: name another folder (database.folder)`,
  )
}

/** @throws OperatorError there is something in it, and not a whole database of this server */
async function assertWhole(folder: string): Promise<void> {
  const names = await attempt(folder, 'cannot be read', () => readdir(folder))
  assertNothingElse(folder, names)
  if (!names.includes(DATA) || names.includes(UNFINISHED)) return
  const data = path.join(folder, DATA)
  for (const part of PARTS) {
    const isThere = await stat(path.join(data, part)).then(
      () => true,
      ({ code }: NodeJS.ErrnoException) => code !== 'ENOENT' && code !== 'ENOTDIR',
    )
    if (isThere) continue
    throw folderError(
      folder,
      `holds no whole database: ${DATA}/${part} is missing. Restore a backup, or name another folder (database.folder)`,
    )
  }
  const version = await attempt(folder, 'cannot be read', () => readFile(path.join(data, 'PG_VERSION'), 'utf8'))
  if (version.trim() === POSTGRES_VERSION) return
  throw folderError(
    folder,
    `holds a database of PostgreSQL '${version.trim().slice(0, 20)}', and this server has ${POSTGRES_VERSION}: ` +
      'start it with the version of the server that made it',
  )
}

/** @throws OperatorError */
async function assertWritable(folder: string): Promise<void> {
  await attempt(folder, 'cannot be written', async () => {
    const file = path.join(folder, PROBE)
    try {
      const probe = await open(file, 'w', 0o600)
      try {
        await probe.writeFile(Buffer.alloc(PROBE_BYTES))
        await probe.sync()
      } finally {
        await probe.close()
      }
    } finally {
      await rm(file, { force: true })
    }
  })
}

/**
 * Takes away the rights of others, since initdb leaves files that everybody may write, and waits until the files are on the
 * disk, for which initdb and the copy of an archive do not wait.
 */
function secure(folder: string): void {
  for (const name of [folder, ...fs.readdirSync(folder, { recursive: true, encoding: 'utf8' })]) {
    // Nobody waits for the event loop yet, and five calls in a thread for each of 450 files take 0.2 s of CPU.
    const descriptor = fs.openSync(path.resolve(folder, name), 'r')
    try {
      const { mode } = fs.fstatSync(descriptor)
      if ((mode & OTHERS) !== 0) fs.fchmodSync(descriptor, mode & 0o700)
      fs.fsyncSync(descriptor)
    } finally {
      fs.closeSync(descriptor)
    }
  }
}

/** Waits until the names in a folder are on the disk. */
async function sync(folder: string): Promise<void> {
  const handle = await open(folder)
  try {
    await handle.sync()
  } finally {
    await handle.close()
  }
}

async function attempt<Result>(folder: string, problem: string, work: () => Promise<Result>): Promise<Result> {
  try {
    return await work()
  } catch (cause) {
    const { code = 'unknown' } = cause as NodeJS.ErrnoException
    const why = reasons[code] ?? code
    throw folderError(folder, `${problem}: ${why}`, { cause })
  }
}

const reasons: Readonly<Record<string, string>> = {
  EEXIST: 'it is a file',
  ENOTDIR: 'a part of its path is a file',
  EROFS: 'the file system is read-only',
  EACCES: 'the server has no right to it',
  EPERM: 'the server has no right to it',
  ENOSPC: 'the disk is full',
  EDQUOT: 'the disk quota is used up',
}

const quoted = (file: string) => (/^[\w./-]+$/.test(file) ? file : `'${file.replaceAll("'", String.raw`'\''`)}'`)

/** A folder that is locked until it is closed or this process ends. */
interface FolderLock {
  release(): void
}

/**
 * Locks a folder against a second process. SQLite takes the operating system's lock on a file: it is gone when the process
 * ends, however it ends, and needs no process ids, which mean nothing between containers.
 *
 * @throws OperatorError
 */
export async function lockFolder(folder: string): Promise<FolderLock> {
  const { DatabaseSync } = sqlite()
  let file: InstanceType<typeof DatabaseSync> | undefined
  try {
    file = new DatabaseSync(path.join(folder, LOCK_FILE))
    file.exec('PRAGMA journal_mode = MEMORY; PRAGMA locking_mode = EXCLUSIVE; BEGIN EXCLUSIVE')
  } catch (cause) {
    file?.close()
    if ((cause as { errcode?: unknown }).errcode === SQLITE_BUSY) {
      throw folderError(folder, 'is in use by another process: stop it, or use PostgreSQL (DATABASE_URL)', { cause })
    }
    throw folderError(folder, `cannot be locked by ${LOCK_FILE} (${(cause as Error).message})`, { cause })
  }
  const locked = file
  return { release: () => locked.close() }
}

/** Node 22 says in the output of every command that uses SQLite that it is experimental. What is used here has not changed since. */
function sqlite() {
  const { emitWarning } = process
  process.emitWarning = () => {}
  try {
    return process.getBuiltinModule('node:sqlite')
  } finally {
    process.emitWarning = emitWarning
  }
}

/** The folder of the embedded database cannot be used. */
export function folderError(folder: string, problem: string, options?: ErrorOptions): OperatorError {
  return new OperatorError(`the database folder ${folder} ${problem}`, options)
}
