import { execFile } from 'node:child_process'
import { cp, mkdir, symlink, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { basename, delimiter, dirname, join, matchesGlob, relative } from 'node:path'
import { promisify } from 'node:util'
import { tmpdir } from 'node:os'

const root = join(import.meta.dirname, '../../..')
const execute = promisify(execFile)

/** This Node comes first, for npm and for the `touchstone` binary, whose shebang asks the PATH. */
const env = { ...process.env, PATH: [dirname(process.execPath), process.env['PATH']].join(delimiter) }

/** Runs a program to its end. Does not throw when it fails. */
export async function runIn(cwd: string, program: string, args: readonly string[]) {
  try {
    return { code: 0, ...(await execute(program, args, { cwd, env })) }
  } catch (error) {
    const { code, stdout, stderr } = error as { code: number; stdout: string; stderr: string }
    return { code, stdout, stderr }
  }
}

/**
 * A copy of the repository without what `.gitignore` names, on the same dependencies. An archive of the sources is no git
 * repository, so git is not asked.
 */
export async function copyRepository(folder: string): Promise<void> {
  const lines = (await readFile(join(root, '.gitignore'), 'utf8')).split('\n').filter((line) => line !== '')
  const ignored = ['.git', ...lines.map((line) => line.replace(/\/$/, ''))]
  await cp(root, folder, {
    recursive: true,
    filter: (source) => {
      const path = relative(root, source)
      return !ignored.some((name) => path === name || matchesGlob(basename(path), name))
    },
  })
  await symlink(join(root, 'node_modules'), join(folder, 'node_modules'))
}

interface LockFile {
  readonly lockfileVersion: number
  readonly packages: Readonly<Record<string, { readonly version?: string; readonly [field: string]: unknown }>>
}

export interface InstalledPackage {
  /** The package is in its `node_modules`. */
  readonly folder: string
  /** Installs these beside it, in the versions of our lock file. */
  add(names: readonly string[]): Promise<void>
  close(): Promise<void>
}

/** What npm would lock for a project with these dependencies: no version needs to be asked for. npm leaves the rest out. */
function lockFileFor(lock: LockFile, tarball: string, projectDependencies: Readonly<Record<string, string>>): object {
  const { '': ours, ...packages } = lock.packages
  const { version, dependencies, engines, bin } = ours ?? {}
  return {
    lockfileVersion: lock.lockfileVersion,
    packages: {
      '': { dependencies: projectDependencies },
      'node_modules/touchstone': { version, resolved: `file:${tarball}`, dependencies, engines, bin },
      ...packages,
    },
  }
}

/**
 * Builds and packs the repository, and installs the tarball in an empty folder. What npm has in its cache is not
 * fetched again.
 */
export async function installPackage(): Promise<InstalledPackage> {
  // With a space: people have one in their paths, and a URL writes it in another way.
  const work = await mkdtemp(join(tmpdir(), 'touchstone package '))
  const close = () => rm(work, { recursive: true, force: true })
  try {
    const copy = join(work, 'repository')
    const folder = join(work, 'project')
    await mkdir(folder)
    await copyRepository(copy)
    await succeed(copy, ['pack', '--pack-destination', folder])
    const { version } = JSON.parse(await readFile(join(copy, 'package.json'), 'utf8')) as { version: string }
    const tarball = `touchstone-${version}.tgz`
    const lock = JSON.parse(await readFile(join(root, 'package-lock.json'), 'utf8')) as LockFile
    const add = async (names: readonly string[]) => {
      const dependencies: Record<string, string> = { touchstone: `file:${tarball}` }
      for (const name of names) dependencies[name] = lock.packages[`node_modules/${name}`]?.version ?? ''
      await writeFile(join(folder, 'package.json'), JSON.stringify({ private: true, type: 'module', dependencies }))
      await writeFile(join(folder, 'package-lock.json'), JSON.stringify(lockFileFor(lock, tarball, dependencies)))
      await succeed(folder, ['ci', '--prefer-offline', '--no-audit', '--no-fund'])
    }
    await add([])
    return { folder, add, close }
  } catch (error) {
    await close()
    throw error
  }
}

async function succeed(cwd: string, args: readonly string[]): Promise<void> {
  const { code, stdout, stderr } = await runIn(cwd, 'npm', args)
  if (code !== 0) throw new Error(`npm ${args.join(' ')} failed:\n${stdout}\n${stderr}`)
}
