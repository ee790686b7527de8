import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { basename, join } from 'node:path'
import { OperatorError } from './errors.ts'

const require = createRequire(import.meta.url)

/**
 * Packages that not every command needs: a clone has them, the published package names them as optional.
 *
 * @returns what `importing` gives
 * @throws OperatorError when it is not installed
 */
export async function optionalPackage<Module>(name: string, importing: () => Promise<Module>): Promise<Module> {
  try {
    return await importing()
  } catch (error) {
    throw asMissing(name, error)
  }
}

/**
 * The script behind the command of such a package.
 *
 * @throws OperatorError when it is not installed
 */
export function optionalCommand(name: string): string {
  try {
    const manifest = require.resolve(`${name}/package.json`)
    const { bin } = JSON.parse(readFileSync(manifest, 'utf8')) as { bin: string | Record<string, string> }
    return join(manifest, '..', typeof bin === 'string' ? bin : (bin[basename(name)] ?? ''))
  } catch (error) {
    throw asMissing(name, error)
  }
}

/** The command that installs packages, of the package manager that has started this process; npm's, if none has. */
export function installCommand(packages: readonly string[], environment: NodeJS.ProcessEnv = process.env): string {
  const manager = /^(?:pnpm|yarn|bun)(?=\/)/.exec(environment['npm_config_user_agent'] ?? '')?.[0]
  return `${manager === undefined ? 'npm install' : `${manager} add`} ${packages.join(' ')}`
}

function asMissing(name: string, error: unknown): unknown {
  const { code } = error as NodeJS.ErrnoException
  if (code !== 'MODULE_NOT_FOUND' && code !== 'ERR_MODULE_NOT_FOUND') return error
  return new OperatorError(`${name} is needed for this: ${installCommand([name])}`)
}
