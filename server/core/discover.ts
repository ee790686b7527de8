import { readdir } from 'node:fs/promises'
import { createRequire } from 'node:module'
import path from 'node:path'
import { pathToFileURL } from 'node:url'
import type { PluginKind } from './define.ts'
import { PluginError } from './plugin-error.ts'

/** A module's default export, not validated yet. */
export interface DiscoveredPlugin {
  /** Its name in errors: a path, or a package's name. */
  readonly file: string
  /** What its id must be; absent for packages, whose file name means nothing. */
  readonly expectedId?: string
  /** What its kind must be; absent for external plugins, which may be of any. */
  readonly expectedKind?: PluginKind
  readonly exported: unknown
}

const kinds: readonly PluginKind[] = ['rpc-method', 'relay', 'quota']

/** Imports every module in `<folder>/{rpc-method,relay,quota}/`; a folder that is missing holds no plugins. */
export async function discoverFolder(folder: string): Promise<DiscoveredPlugin[]> {
  const found = await Promise.all(
    kinds.map(async (kind) => {
      const names = await readdir(path.join(folder, kind)).catch(() => [])
      const modules = names.filter((name) => /(?<!\.d)\.(ts|js)$/.test(name)).sort()
      return Promise.all(
        modules.map(async (name) => ({
          ...(await importDefault(pathToFileURL(path.join(folder, kind, name)).href, `${kind}/${name}`)),
          expectedId: path.parse(name).name,
          expectedKind: kind,
        })),
      )
    }),
  )
  return found.flat()
}

/**
 * Imports external plugins. A package may export one plugin or a list of them.
 *
 * @param specifiers package names, or paths (starting with `.` or `/`), relative to `baseFolder`
 */
export async function discoverExternal(specifiers: readonly string[], baseFolder: string): Promise<DiscoveredPlugin[]> {
  const found = await Promise.all(
    specifiers.map(async (specifier) => {
      const isPath = specifier.startsWith('.') || path.isAbsolute(specifier)
      const target = isPath
        ? pathToFileURL(path.resolve(baseFolder, specifier)).href
        : resolvePackage(specifier, baseFolder)
      const { exported } = await importDefault(target, specifier)
      if (Array.isArray(exported)) return exported.map((one: unknown) => ({ file: specifier, exported: one }))
      return [
        isPath ? { file: specifier, expectedId: path.parse(specifier).name, exported } : { file: specifier, exported },
      ]
    }),
  )
  return found.flat()
}

/** Resolves the package from the configuration's folder, else from this server (exports for `import` only). */
function resolvePackage(name: string, baseFolder: string): string {
  try {
    return pathToFileURL(createRequire(path.join(baseFolder, 'package.json')).resolve(name)).href
  } catch {
    return name
  }
}

async function importDefault(target: string, name: string): Promise<DiscoveredPlugin> {
  let module: { default?: unknown }
  try {
    module = (await import(target)) as { default?: unknown }
  } catch (cause) {
    throw new PluginError(name, '', `cannot be imported: ${cause instanceof Error ? cause.message : String(cause)}`, {
      cause,
    })
  }
  if (module.default === undefined) throw new PluginError(name, 'default', 'the module has no default export')
  return { file: name, exported: module.default }
}
