import { readFile } from 'node:fs/promises'
import path from 'node:path'
import { parse as parseYaml } from 'yaml'
import type { Config } from '../../specs/index.ts'
import { createValidator, describeError } from '../core/validate.ts'
import { ConfigError } from './config-error.ts'
import { environmentMembers } from './environment.ts'
import { resolveSecrets, type Secrets } from './secrets.ts'

export interface LoadedConfig {
  /** Valid, defaults filled in, paths absolute. */
  readonly config: Config
  readonly secrets: Secrets
  /** What relative paths of the file, and packages it names, are relative to. */
  readonly baseFolder: string
}

export type Environment = Readonly<Record<string, string | undefined>>

/**
 * The effective configuration: the file (JSON or YAML), environment variables over it, defaults of
 * `specs/schemas/config.json` under it, and the secrets that it names.
 *
 * @throws ConfigError one line for each fault
 */
export async function loadConfig(file: string | undefined, environment: Environment): Promise<LoadedConfig> {
  const { config, baseFolder } = await readConfig(file, environment)
  return { config, secrets: await resolveSecrets(config, environment), baseFolder }
}

/**
 * The same without the secrets, for commands that do not need them.
 *
 * @throws ConfigError one line for each fault
 */
export async function readConfig(
  file: string | undefined,
  environment: Environment,
): Promise<Omit<LoadedConfig, 'secrets'>> {
  const baseFolder = file === undefined ? process.cwd() : path.dirname(path.resolve(file))
  const tree = file === undefined ? {} : await readTree(file)
  for (const { path: members, value } of environmentMembers(environment)) setMember(tree, members, value)
  return { config: parseConfig(tree, file ?? 'configuration', baseFolder), baseFolder }
}

/**
 * Checks a configuration that did not come from a file.
 *
 * @param tree is not changed
 * @throws ConfigError
 */
export function parseConfig(tree: unknown, name: string, baseFolder: string): Config {
  const filled = structuredClone(tree)
  const validate = createValidator('all-errors').compileKey('config')
  if (!validate(filled)) {
    throw new ConfigError((validate.errors ?? []).map((error) => `${name}: ${describeError(error, 'configuration')}`))
  }
  const config = filled as Config
  if (config.quota.plans[config.quota.defaultPlan] === undefined) {
    throw new ConfigError([`${name}: quota/defaultPlan there is no plan '${config.quota.defaultPlan}'`])
  }
  return withAbsolutePaths(config, baseFolder)
}

async function readTree(file: string): Promise<Record<string, unknown>> {
  let text: string
  try {
    text = await readFile(file, 'utf8')
  } catch (cause) {
    throw new ConfigError([`${file}: cannot be read (${(cause as NodeJS.ErrnoException).code ?? 'unknown'})`], {
      cause,
    })
  }
  let tree: unknown
  try {
    // YAML is a superset of JSON.
    tree = parseYaml(text)
  } catch (cause) {
    const [reason] = (cause instanceof Error ? cause.message : String(cause)).split('\n')
    throw new ConfigError([`${file}: ${reason}`], { cause })
  }
  if (typeof tree !== 'object' || tree === null || Array.isArray(tree)) {
    throw new ConfigError([`${file}: must hold an object`])
  }
  return tree as Record<string, unknown>
}

function setMember(tree: Record<string, unknown>, members: readonly string[], value: unknown): void {
  const [first, ...rest] = members
  if (first === undefined) return
  if (rest.length === 0) {
    tree[first] = value
    return
  }
  const inner = tree[first] ?? {}
  // A scalar where the schema has an object: the validator tells it by name.
  if (typeof inner !== 'object') return
  tree[first] = inner
  setMember(inner as Record<string, unknown>, rest, value)
}

function withAbsolutePaths(config: Config, baseFolder: string): Config {
  const absolute = (file: string) => path.resolve(baseFolder, file)
  return {
    ...config,
    database: { ...config.database, folder: config.database.folder === null ? null : absolute(config.database.folder) },
    signers: {
      ...config.signers,
      keystores: config.signers.keystores.map(({ file, passwordFile }) => ({
        file: absolute(file),
        passwordFile: absolute(passwordFile),
      })),
    },
  }
}
