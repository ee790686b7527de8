import type { PGlite } from '@electric-sql/pglite'
import { openAsBlob, readFileSync } from 'node:fs'
import { access, mkdir, rename, rm, writeFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { optionalPackage } from '../../core/optional-package.ts'

/**
 * Starts PGlite on the database in a folder, or on a new and empty one.
 *
 * Making a new one (`initdb`) takes 3 s of CPU, unpacking one half a second. The first one that is made is therefore kept
 * as an archive in `node_modules/.cache`, where build tools keep what they can make again; without a folder there that
 * can be written, each is made anew.
 *
 * @param folder where its files are; undefined: in memory
 */
export async function startPGlite(folder: string | undefined, isNew: boolean, archive?: string): Promise<PGlite> {
  const { PGlite } = await optionalPackage('@electric-sql/pglite', () => import('@electric-sql/pglite'))
  const place = folder === undefined ? {} : { dataDir: folder }
  if (!isNew) return PGlite.create(place)
  const kept = archive ?? sharedArchive()
  if (await exists(kept)) {
    try {
      return await PGlite.create({ ...place, loadDataDir: await openAsBlob(kept) })
    } catch {
      // It is damaged, or belongs to somebody else: as if there were none.
      await rm(kept, { force: true }).catch(() => {})
      if (folder !== undefined) await rm(folder, { recursive: true, force: true })
    }
  }
  const pglite = await PGlite.create(place)
  await keep(pglite, kept)
  return pglite
}

/** Of this version of PGlite: another one may not understand its files. */
function sharedArchive(): string {
  const dist = dirname(createRequire(import.meta.url).resolve('@electric-sql/pglite'))
  const { version } = JSON.parse(readFileSync(join(dist, '../package.json'), 'utf8')) as { version: string }
  return join(dist, '../../../.cache/touchstone', `empty-database-${version}.tar`)
}

/** What is written is whole when it is there: another process may look for it, or write its own. */
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
