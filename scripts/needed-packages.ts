import { readFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { OperatorError } from '../server/core/errors.ts'
import { installCommand } from '../server/core/optional-package.ts'

export type PackageGroup = 'server' | 'chain'

/** What the published package.json says of the packages that it does not bring, since `check <url>` does without them. */
interface Manifest {
  readonly touchstone: { readonly packages: Readonly<Record<PackageGroup, readonly string[]>> }
  readonly peerDependencies: Readonly<Record<string, string>>
}

const MISSING = ['ERR_MODULE_NOT_FOUND', 'MODULE_NOT_FOUND']

/**
 * Loads what needs these packages.
 *
 * @param what needs them, as the person who called it names it
 * @throws OperatorError some are not installed; it says how to install them
 */
export async function withPackages<Module>(
  what: string,
  groups: readonly PackageGroup[],
  load: () => Promise<Module>,
): Promise<Module> {
  try {
    return await load()
  } catch (error) {
    if (!MISSING.includes(String((error as NodeJS.ErrnoException).code))) throw error
    const { touchstone, peerDependencies } = await readManifest()
    const missing = groups.flatMap((group) => touchstone.packages[group]).filter((name) => !isInstalled(name))
    if (missing.length === 0) throw error
    const wanted = missing.map((name) => `${name}@${peerDependencies[name]}`)
    throw new OperatorError(`${what} needs packages that are not installed: ${installCommand(wanted)}`)
  }
}

function isInstalled(name: string): boolean {
  try {
    import.meta.resolve(name)
    return true
  } catch {
    return false
  }
}

async function readManifest(): Promise<Manifest> {
  const path = fileURLToPath(import.meta.resolve('touchstone/package.json'))
  return JSON.parse(await readFile(path, 'utf8')) as Manifest
}
