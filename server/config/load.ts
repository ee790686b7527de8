import { readFile } from 'node:fs/promises'
import type { ErrorObject } from 'ajv/dist/2020.js'
import { isNode, LineCounter, parseDocument } from 'yaml'
import path from 'node:path'
import type { Config } from '../../specs/index.ts'
import { validatorOf } from '../core/validate.ts'
import { ConfigError } from './config-error.ts'
import { environmentMembers, type Environment } from './environment.ts'
import { resolveSecrets, type Secrets } from './secrets.ts'

export interface LoadedConfig {
  /** Valid, defaults filled in, paths absolute. */
  readonly config: Config
  readonly secrets: Secrets
  /** What relative paths of the file, and packages it names, are relative to. */
  readonly baseFolder: string
}

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
 * Reads the configuration without its secrets, for commands that do not need them.
 *
 * @throws ConfigError one line for each fault
 */
export async function readConfig(
  file: string | undefined,
  environment: Environment,
): Promise<Omit<LoadedConfig, 'secrets'>> {
  const baseFolder = file === undefined ? process.cwd() : path.dirname(path.resolve(file))
  const { tree, nameAt } = file === undefined ? { tree: {}, nameAt: () => 'configuration' } : await readTree(file)
  for (const { path: members, value } of environmentMembers(environment)) setMember(tree, members, value)
  return { config: parseConfig(tree, nameAt, baseFolder), baseFolder }
}

/**
 * Checks a configuration, and fills in the defaults.
 *
 * @param tree is not changed
 * @param name what faults are told to be in; or a function of the path of the faulty member, which may know the line
 * @throws ConfigError
 */
export function parseConfig(
  tree: unknown,
  name: string | ((path: readonly string[]) => string),
  baseFolder: string,
): Config {
  const nameAt = typeof name === 'string' ? () => name : name
  const filled = structuredClone(tree)
  const validate = validatorOf('all-errors').compileKey('config')
  if (!validate(filled)) {
    const lines = (validate.errors ?? []).map((error) => `${nameAt(pathOf(error))}: ${configFault(error)}`)
    throw new ConfigError(lines)
  }
  const config = filled as Config
  if (config.quota.plans[config.quota.defaultPlan] === undefined) {
    const line = nameAt(['quota', 'defaultPlan'])
    throw new ConfigError([`${line}: quota.defaultPlan: there is no plan '${config.quota.defaultPlan}'`])
  }
  return withAbsolutePaths(config, baseFolder)
}

interface ReadTree {
  readonly tree: Record<string, unknown>
  /** Names the file, and the line of a member that stands in it. */
  readonly nameAt: (path: readonly string[]) => string
}

async function readTree(file: string): Promise<ReadTree> {
  let text: string
  try {
    text = await readFile(file, 'utf8')
  } catch (cause) {
    throw new ConfigError([`${file}: cannot be read (${(cause as NodeJS.ErrnoException).code ?? 'unknown'})`], {
      cause,
    })
  }
  // YAML is a superset of JSON.
  const lineCounter = new LineCounter()
  const document = parseDocument(text, { lineCounter })
  const [cause] = document.errors
  if (cause) throw new ConfigError([`${file}: ${cause.message.split('\n')[0] ?? ''}`], { cause })
  const tree: unknown = document.toJS()
  if (typeof tree !== 'object' || tree === null || Array.isArray(tree)) {
    throw new ConfigError([`${file}: must hold an object`])
  }
  return {
    tree: tree as Record<string, unknown>,
    nameAt: (path) => {
      const node = document.getIn(path, true)
      const start = isNode(node) ? node.range?.[0] : undefined
      return start === undefined ? file : `${file}:${lineCounter.linePos(start).line}`
    },
  }
}

/** The path of the faulty member. A missing member has no line; the object around it may be long. */
function pathOf({ keyword, instancePath, params }: ErrorObject): string[] {
  const path = instancePath.split('/').slice(1)
  if (keyword === 'additionalProperties') return [...path, String(params['additionalProperty'])]
  return keyword === 'required' ? [...path, String(params['missingProperty'])] : path
}

function setMember(tree: Record<string, unknown>, members: readonly string[], value: unknown): void {
  const [first, ...rest] = members
  if (first === undefined) return
  if (rest.length === 0) {
    tree[first] = value
    return
  }
  const inner = tree[first] ?? {}
  // The validator names a scalar that stands where the schema has an object.
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

/** Letters that may be wrong, missing or too many in a name that is meant. */
const MAX_EDITS = 3

/**
 * What is wrong with a configuration, in the words of whoever wrote it: `unknown member chain.rpcUrl; did you mean
 * chain.rpcUrls?`
 */
function configFault({ keyword, instancePath, params, message, parentSchema }: ErrorObject): string {
  const path = instancePath.slice(1).replaceAll('/', '.')
  const member = (name: string) => (path === '' ? name : `${path}.${name}`)
  if (keyword === 'required') return `${member(String(params['missingProperty']))} is missing`
  if (keyword === 'additionalProperties') {
    const name = String(params['additionalProperty'])
    const known = Object.keys((parentSchema?.['properties'] ?? {}) as object)
    const [meant] = known
      .map((other) => ({ other, distance: editDistance(name.toLowerCase(), other.toLowerCase()) }))
      .filter(({ distance }) => distance <= MAX_EDITS)
      .sort((one, next) => one.distance - next.distance)
    return `unknown member ${member(name)}${meant ? `; did you mean ${member(meant.other)}?` : ''}`
  }
  return `${path || 'configuration'} ${message ?? keyword}`
}

/** Letters to change, add or leave out that make one text of the other (Levenshtein). */
function editDistance(one: string, other: string): number {
  let row = Array.from({ length: other.length + 1 }, (_, index) => index)
  for (const [at, letter] of [...one].entries()) {
    const next = [at + 1]
    for (const [index, otherLetter] of [...other].entries()) {
      const [left = 0, above = 0, diagonal = 0] = [next[index], row[index + 1], row[index]]
      next.push(Math.min(left + 1, above + 1, diagonal + (letter === otherLetter ? 0 : 1)))
    }
    row = next
  }
  return row.at(-1) ?? 0
}
