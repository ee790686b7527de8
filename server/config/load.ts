import { readFile } from 'node:fs/promises'
import type { ErrorObject } from 'ajv/dist/2020.js'
import { isNode, LineCounter, parseDocument } from 'yaml'
import path from 'node:path'
import { type Config, insteadOf } from '../../specs/index.ts'
import { brokenRuleOf, validatorOf } from '../core/validate.ts'
import { ConfigError } from '../core/errors.ts'
import { environmentMembers, type Environment, resolveSecrets, type Secrets } from './environment.ts'

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
  const set = environmentMembers(environment)
  for (const { path: members, value } of set) setMember(tree, members, value)
  if (file === undefined && tree['chain'] === undefined) {
    throw new ConfigError(['no node is named: give --config <file>, or set TOUCHSTONE_CHAIN_RPC_URLS'])
  }
  // A fault in what a variable sets is not in the file.
  const variableAt = (at: readonly string[]) =>
    set.find(({ path: members }) => members.every((member, index) => at[index] === member))?.name
  const sourceAt = (at: readonly string[]) => {
    const name = variableAt(at)
    return name === undefined ? nameAt(at) : `environment: ${name}`
  }
  return { config: parseConfig(tree, sourceAt, baseFolder), baseFolder }
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
    const lines = told(validate.errors ?? []).map((error) => `${nameAt(pathOf(error))}: ${configFault(error)}`)
    throw new ConfigError(lines)
  }
  const config = filled as Config
  const noUrl = config.chain.rpcUrls.findIndex((url) => !URL.canParse(url))
  if (noUrl !== -1) {
    // A URL may hold a key, and is not quoted.
    const index = String(noUrl)
    throw new ConfigError([`${nameAt(['chain', 'rpcUrls', index])}: chain.rpcUrls.${index} is no URL`])
  }
  const { defaultPlan, plans } = config.quota
  if (plans[defaultPlan] === undefined) {
    const line = nameAt(['quota', 'defaultPlan'])
    throw new ConfigError([
      `${line}: quota.defaultPlan: there is no plan '${defaultPlan}'${insteadOf(defaultPlan, Object.keys(plans))}`,
    ])
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

/** Without what only says that others have found a fault, or that a text might have been null as well. */
const told = (errors: readonly ErrorObject[]) =>
  errors.filter(({ keyword, params }) => !['anyOf', 'propertyNames'].includes(keyword) && params['type'] !== 'null')

/** The path of the faulty member. A missing member has no line; the object around it may be long. */
function pathOf({ keyword, instancePath, params, propertyName }: ErrorObject): string[] {
  const path = instancePath.split('/').slice(1)
  if (propertyName !== undefined) return [...path, propertyName]
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

/**
 * What is wrong with a configuration, in the words of whoever wrote it: `unknown member chain.rpcUrl; did you mean
 * chain.rpcUrls?`
 */
function configFault(error: ErrorObject): string {
  const { keyword, instancePath, params, parentSchema, propertyName } = error
  const path = instancePath.slice(1).replaceAll('/', '.')
  const member = (name: string) => (path === '' ? name : `${path}.${name}`)
  if (propertyName !== undefined) return `the name ${member(propertyName)} ${brokenRuleOf(error)}`
  if (keyword === 'required') return `${member(String(params['missingProperty']))} is missing`
  if (keyword === 'additionalProperties') {
    const name = String(params['additionalProperty'])
    const known = Object.keys((parentSchema?.['properties'] ?? {}) as object)
    return `unknown member ${member(name)}${insteadOf(member(name), known.map(member))}`
  }
  return `${path || 'configuration'} ${brokenRuleOf(error)}`
}

const REDACTED = '(redacted)'

/** Members of `specs/schemas/config.json` that are named like secrets, and are names of variables or of files. */
const HARMLESS: ReadonlySet<string> = new Set(['keystores', 'passwordFile', 'privateKeysFromEnv'])
/** Names of plugin options that may be secrets. */
const SECRET_NAME = /key|secret|token|pass|auth|cred|mnemonic|seed|private|signature|cookie|dsn/i
/** Segments of a node's URL that are no keys: `rpc`, `v3`, `mainnet`, `eth-rpc`. */
const PLAIN_SEGMENT = /^(?:v\d{1,2}|[a-z]{1,12}(?:-[a-z]{1,12}){0,2})$/

/**
 * The configuration that is in force as `serve --print-config` shows it: to be put into a bug report as it is. A
 * credential may stand in any part of a URL, and in any option of a plugin.
 */
export function redactConfig({ config, secrets }: Pick<LoadedConfig, 'config' | 'secrets'>): Record<string, unknown> {
  const { signerKeys, keystores, databaseUrl } = secrets
  const known = [...signerKeys.flatMap((key) => [key, key.slice(2)]), ...keystores.map(({ password }) => password)]
  return {
    ...(redact(
      config,
      known.filter((secret) => secret.length > 3),
    ) as Record<string, unknown>),
    secrets: {
      signerKeys: `${signerKeys.length} ${REDACTED}`,
      keystores: keystores.map(({ file }) => file),
      ...(databaseUrl === undefined ? {} : { databaseUrl: redactText(databaseUrl, known) }),
    },
  }
}

function redact(value: unknown, known: readonly string[]): unknown {
  if (typeof value === 'string') return redactText(value, known)
  if (Array.isArray(value)) return value.map((item: unknown) => redact(item, known))
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(
    Object.entries(value).map(([name, inner]: [string, unknown]) => {
      const isSecret = SECRET_NAME.test(name) && !HARMLESS.has(name) && inner !== null && typeof inner !== 'boolean'
      return [redactText(name, known), isSecret ? REDACTED : redact(inner, known)]
    }),
  )
}

function redactText(text: string, known: readonly string[]): string {
  if (known.some((secret) => text.includes(secret))) return REDACTED
  const scheme = /^\s*([a-z][a-z0-9+.-]*):\/\//i.exec(text)?.[1]
  if (scheme !== undefined) return redactUrl(text.trim(), scheme)
  // A URL within other text, or an address with a user's name and no scheme.
  return /:\/\/|\S:\S+@/.test(text) || looksLikeKey(text) ? REDACTED : text
}

/** Keeps scheme, host, port, and segments of the path that are no keys. A URL that cannot be parsed is not shown. */
function redactUrl(text: string, scheme: string): string {
  let url: URL
  try {
    // URL parses the path only for schemes that it knows, so http stands in for the others.
    url = new URL(text.replace(scheme, 'http'))
  } catch {
    return `${scheme}://${REDACTED}`
  }
  // A password that contains / # or ? ends the host early: the rest of it is then in path, query or hash.
  if (/@/.test(`${url.pathname}${url.search}${url.hash}`)) return `${scheme}://${REDACTED}`
  const user = url.username === '' && url.password === '' ? '' : `${REDACTED}@`
  const host = url.host.split('.').map((label) => (looksLikeKey(label) ? REDACTED : label))
  const path = url.pathname
    .split('/')
    .map((segment) => (segment === '' || PLAIN_SEGMENT.test(segment) ? segment : REDACTED))
  const query = url.search === '' && url.hash === '' ? '' : `?${REDACTED}`
  const shownPath = url.pathname === '/' && !text.replace(/[?#].*$/s, '').endsWith('/') ? '' : path.join('/')
  return `${scheme}://${user}${host.join('.')}${shownPath}${query}`
}

/**
 * Whether a text is long, in one piece and has digits; or is a mnemonic, or a certificate's key. An address is no key.
 */
function looksLikeKey(text: string): boolean {
  if (/^0x[0-9a-f]{40}$/i.test(text)) return false
  const words = text.trim().split(/\s+/)
  if (words.length >= 12 && words.every((word) => /^[a-z]{3,8}$/.test(word))) return true
  if (text.includes('PRIVATE KEY')) return true
  return words.some((word) => !/^[./]/.test(word) && (/\d/.test(word) ? /[\w+=-]{20,}/ : /[A-Za-z+=]{32,}/).test(word))
}
