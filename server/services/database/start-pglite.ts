import type { PGlite } from '@electric-sql/pglite'
import { openAsBlob, readFileSync } from 'node:fs'
import { access, mkdir, rename, rm, writeFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { optionalPackage } from '../../core/optional-package.ts'

/**
 * PGlite's own default is 160 MB, which it fills with zeros at each start: a quarter of the CPU that a start takes. What
 * does not fit is read from its files again, which lie in memory, PGlite's own or that of the operating system.
 */
const SHARED_BUFFERS = '16MB'

/**
 * Starts PGlite on the database in a folder, or on a new and empty one.
 *
 * Making a database (`initdb`) takes 3 s of CPU, unpacking one takes half a second. So the first one is kept as an
 * archive in `node_modules/.cache`, where build tools keep such things. When nothing can be written there, each
 * database is made.
 *
 * @param folder where its files are; undefined: in memory
 */
export async function startPGlite(folder: string | undefined, isNew: boolean, archive?: string): Promise<PGlite> {
  const { PGlite } = await optionalPackage('@electric-sql/pglite', () => import('@electric-sql/pglite'))
  const startParams = [...PGlite.defaultStartParams, '-c', `shared_buffers=${SHARED_BUFFERS}`]
  const place = { startParams, ...(folder !== undefined && { dataDir: folder }) }
  if (!isNew) return PGlite.create(place)
  const kept = archive ?? sharedArchive()
  if (await exists(kept)) {
    try {
      return await PGlite.create({ ...place, loadDataDir: await openAsBlob(kept) })
    } catch {
      // The archive is damaged, or belongs to somebody else: go on without it.
      await rm(kept, { force: true }).catch(() => {})
      if (folder !== undefined) await rm(folder, { recursive: true, force: true })
    }
  }
  const pglite = await PGlite.create(place)
  await keep(pglite, kept)
  return pglite
}

/** The archive's path, with the version of PGlite: another version may not understand the files. */
function sharedArchive(): string {
  const dist = dirname(createRequire(import.meta.url).resolve('@electric-sql/pglite'))
  const { version } = JSON.parse(readFileSync(join(dist, '../package.json'), 'utf8')) as { version: string }
  return join(dist, '../../../.cache/touchstone', `empty-database-${version}.tar`)
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
