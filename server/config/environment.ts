import { readFile } from 'node:fs/promises'
import { insteadOf, schemas, type JsonSchema, type Config } from '../../specs/index.ts'
import { ConfigError } from '../core/errors.ts'

/** Variables by name, as in `process.env`. */
export type Environment = Readonly<Record<string, string | undefined>>

/** A member of the configuration that an environment variable can set. */
interface EnvironmentVariable {
  /** E.g. `TOUCHSTONE_CHAIN_RPC_URLS`. */
  readonly name: string
  /** E.g. `['chain', 'rpcUrls']`. */
  readonly path: readonly string[]
  readonly schema: JsonSchema
}

const prefix = 'TOUCHSTONE_'

/** Variables that the prefix owns but that are no members: the default name for the signers' keys. */
const secretNames = ['TOUCHSTONE_SIGNER_KEYS']

/** Every scalar or list of strings in `specs/schemas/config.json`, named by its path. */
export function environmentVariables(): EnvironmentVariable[] {
  return leaves(schemas['config'] ?? {}, [])
}

/** A member that the environment sets, and by which variable. */
interface EnvironmentMember {
  readonly name: string
  readonly path: readonly string[]
  readonly value: unknown
}

/**
 * What the environment sets.
 *
 * @throws ConfigError for a name that starts with TOUCHSTONE_ and means nothing, or a value of another type
 */
export function environmentMembers(environment: Environment): EnvironmentMember[] {
  const known = new Map(environmentVariables().map((variable) => [variable.name, variable]))
  const secrets = [...secretNames, environment['TOUCHSTONE_SIGNERS_PRIVATE_KEYS_FROM_ENV']]
  const ofServices = serviceVariables(environment)
  const faults: string[] = []
  const members: EnvironmentMember[] = []
  for (const [name, text] of Object.entries(environment)) {
    if (!name.startsWith(prefix) || text === undefined || secrets.includes(name)) continue
    const variable = known.get(name)
    if (variable !== undefined) members.push({ name, path: variable.path, value: valueOf(text, variable.schema) })
    else if (!ofServices.some((start) => name.startsWith(start))) {
      faults.push(`environment: ${name} sets nothing${insteadOf(name, [...known.keys(), ...secretNames])}`)
    }
  }
  if (faults.length > 0) throw new ConfigError(faults)
  return members
}

/**
 * How the variables start by which Kubernetes tells a container where the Services of its namespace are. Those of a
 * Service named `touchstone`, or `touchstone-relay`, have our prefix: `TOUCHSTONE_SERVICE_HOST`, `TOUCHSTONE_PORT_80_TCP`.
 */
function serviceVariables(environment: Environment): string[] {
  const hosts = Object.keys(environment).filter((name) => name.endsWith('SERVICE_HOST'))
  return hosts.map((name) => name.slice(0, -'SERVICE_HOST'.length)).flatMap((of) => [`${of}SERVICE_`, `${of}PORT`])
}

function leaves(schema: JsonSchema, path: readonly string[]): EnvironmentVariable[] {
  const properties = schema['properties'] as Readonly<Record<string, JsonSchema>> | undefined
  if (properties !== undefined) {
    return Object.entries(properties).flatMap(([member, inner]) => leaves(inner, [...path, member]))
  }
  const isList = schema['type'] === 'array'
  const items = schema['items'] as JsonSchema | undefined
  if (schema['type'] === 'object' || (isList && items?.['type'] !== 'string') || path[0] === '$schema') return []
  const name = prefix + path.map((member) => member.replace(/[A-Z]/g, '_$&').toUpperCase()).join('_')
  return [{ name, path, schema }]
}

/** Converts the text to the type of the schema. A text that does not fit stays text, so that the validator names it. */
function valueOf(text: string, schema: JsonSchema): unknown {
  if (schema['type'] === 'array') return text === '' ? [] : text.split(',').map((item) => item.trim())
  if (schema['type'] === 'integer' && /^-?\d+$/.test(text)) return Number(text)
  if (schema['type'] === 'boolean' && /^(true|false)$/.test(text)) return text === 'true'
  const [first] = (schema['anyOf'] ?? []) as readonly JsonSchema[]
  if (first !== undefined) return text === 'null' ? null : valueOf(text, first)
  return text
}

/** Secrets that the configuration names and never contains. They are never logged, and never part of an error. */
export interface Secrets {
  /** Private keys of relayer accounts, 0x and 32 bytes. */
  readonly signerKeys: readonly string[]
  /** Encrypted JSON keystores with their passwords, not opened yet. */
  readonly keystores: readonly { readonly file: string; readonly json: string; readonly password: string }[]
  /** PostgreSQL URL; absent: the embedded database. */
  readonly databaseUrl?: string
}

/**
 * Reads DATABASE_URL, which may hold a password, and is never quoted.
 *
 * @param faults gets a line when it is no URL of PostgreSQL
 */
export function readDatabaseUrl({ DATABASE_URL: url }: Environment, faults: string[]): string | undefined {
  // The driver takes a socket's URL with a user and no host: `postgresql://user:password@/database?host=/run/postgresql`.
  if (url !== undefined && !(/^postgres(ql)?:\/\//.test(url) && URL.canParse(url.replace('@/', '@localhost/')))) {
    const isOfSeveral = /^postgres(ql)?:\/\/(?:[^@/]*@)?[^@/?#]*,/.test(url)
    faults.push(
      isOfSeveral
        ? 'environment: DATABASE_URL names several hosts: it takes one, that of a proxy which leads to the primary'
        : 'environment: DATABASE_URL is no postgresql:// URL; in a password, # / ? @ and : are %23 %2F %3F %40 and %3A',
    )
  }
  return url
}

/**
 * Reads what the configuration refers to.
 *
 * @throws ConfigError one line for each secret that is missing or malformed; the value itself is never quoted
 */
export async function resolveSecrets(config: Config, environment: Environment): Promise<Secrets> {
  const faults: string[] = []
  const { privateKeysFromEnv, keystores } = config.signers

  const signerKeys = (environment[privateKeysFromEnv] ?? '')
    .split(',')
    .map((key) => key.trim())
    .filter((key) => key !== '')
    .map((key) => (key.startsWith('0x') ? key : `0x${key}`))
  signerKeys.forEach((key, index) => {
    if (!/^0x[0-9a-fA-F]{64}$/.test(key))
      faults.push(`environment: ${privateKeysFromEnv}: key ${index + 1} is not 32 bytes in hex`)
  })
  if (signerKeys.length === 0 && keystores.length === 0) {
    faults.push(`signers: no account can pay: set ${privateKeysFromEnv}, or name a keystore in signers/keystores`)
  }

  const read = async (file: string, member: string): Promise<string> => {
    try {
      return await readFile(file, 'utf8')
    } catch (cause) {
      faults.push(
        `signers/keystores/${member}: ${file} cannot be read (${(cause as NodeJS.ErrnoException).code ?? ''})`,
      )
      return ''
    }
  }
  const opened = await Promise.all(
    keystores.map(async ({ file, passwordFile }, index) => ({
      file,
      json: await read(file, `${index}/file`),
      // Editors end files with a newline; a password does not.
      password: (await read(passwordFile, `${index}/passwordFile`)).replace(/\r?\n$/, ''),
    })),
  )

  const databaseUrl = readDatabaseUrl(environment, faults)
  if (faults.length > 0) throw new ConfigError(faults)
  return { signerKeys, keystores: opened, ...(databaseUrl === undefined ? {} : { databaseUrl }) }
}
