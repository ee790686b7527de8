import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { copyRepository, runIn } from './repository-copy.ts'

const root = join(import.meta.dirname, '../../..')

interface LockedPackage {
  readonly dev?: boolean
  readonly [field: string]: unknown
}

/** What npm would lock for a project that depends on the tarball alone: no version needs to be asked for. */
async function lockFileFor(tarball: string): Promise<object> {
  const lock = JSON.parse(await readFile(join(root, 'package-lock.json'), 'utf8')) as {
    lockfileVersion: number
    packages: Record<string, LockedPackage>
  }
  const { version, dependencies, engines, bin } = lock.packages[''] ?? {}
  const kept = Object.entries(lock.packages).filter(([path, { dev }]) => path !== '' && dev !== true)
  return {
    lockfileVersion: lock.lockfileVersion,
    packages: {
      '': { dependencies: { touchstone: `file:${tarball}` } },
      'node_modules/touchstone': { version, resolved: `file:${tarball}`, dependencies, engines, bin },
      ...Object.fromEntries(kept),
    },
  }
}

/**
 * Builds and packs the repository, and installs the tarball in an empty folder. What npm has in its cache is not
 * fetched again.
 *
 * @returns the folder, with the package in `node_modules`
 */
export async function installPackage(): Promise<{ folder: string; close(): Promise<void> }> {
  const work = await mkdtemp(join(tmpdir(), 'touchstone-package-'))
  const close = () => rm(work, { recursive: true, force: true })
  try {
    const copy = join(work, 'repository')
    const folder = join(work, 'project')
    await mkdir(folder)
    await copyRepository(copy)
    await succeed(copy, ['pack', '--pack-destination', folder])
    const { version } = JSON.parse(await readFile(join(copy, 'package.json'), 'utf8')) as { version: string }
    const tarball = `touchstone-${version}.tgz`
    const manifest = { private: true, type: 'module', dependencies: { touchstone: `file:${tarball}` } }
    await writeFile(join(folder, 'package.json'), JSON.stringify(manifest))
    await writeFile(join(folder, 'package-lock.json'), JSON.stringify(await lockFileFor(tarball)))
    await succeed(folder, ['ci', '--prefer-offline', '--no-audit', '--no-fund'])
    return { folder, close }
  } catch (error) {
    await close()
    throw error
  }
}

async function succeed(cwd: string, args: readonly string[]): Promise<void> {
  const { code, stdout, stderr } = await runIn(cwd, 'npm', args)
  if (code !== 0) throw new Error(`npm ${args.join(' ')} failed:\n${stdout}\n${stderr}`)
}
