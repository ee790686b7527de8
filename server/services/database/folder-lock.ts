import path from 'node:path'
import { folderError } from './folder-error.ts'

/** A folder that is ours until we close it or die. */
export interface FolderLock {
  release(): void
}

/** The file that carries the lock. */
export const LOCK_FILE = 'lock.sqlite'

const SQLITE_BUSY = 5

/**
 * Locks a folder against a second process. The lock is the operating system's own on a file, which SQLite takes: it
 * vanishes with the process however that ends, and needs no process ids, which mean nothing between containers.
 *
 * @throws OperatorError
 */
export async function lockFolder(folder: string): Promise<FolderLock> {
  const { DatabaseSync } = await import('node:sqlite')
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
