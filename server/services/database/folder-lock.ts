import { mkdir } from 'node:fs/promises'
import path from 'node:path'

/** A folder that is ours until we close it or die. */
export interface FolderLock {
  release(): void
}

/**
 * Locks a folder against a second process. The lock is the operating system's own on a file, which SQLite takes: it
 * vanishes with the process however that ends, and needs no process ids, which mean nothing between containers.
 *
 * @throws FolderLockedError
 */
export async function lockFolder(folder: string): Promise<FolderLock> {
  await mkdir(folder, { recursive: true })
  const { DatabaseSync } = await import('node:sqlite')
  const file = new DatabaseSync(path.join(folder, 'lock.sqlite'))
  try {
    file.exec('PRAGMA journal_mode = MEMORY; PRAGMA locking_mode = EXCLUSIVE; BEGIN EXCLUSIVE')
  } catch (cause) {
    file.close()
    throw new FolderLockedError(folder, { cause })
  }
  return { release: () => file.close() }
}

export class FolderLockedError extends Error {
  readonly folder: string

  constructor(folder: string, options?: ErrorOptions) {
    super(
      `the database folder ${folder} is in use by another process: stop it, or use PostgreSQL (DATABASE_URL)`,
      options,
    )
    this.name = 'FolderLockedError'
    this.folder = folder
  }
}
