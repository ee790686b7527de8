import { readFile } from 'node:fs/promises'
import type { Config } from '../../specs/index.ts'
import { ConfigError } from './config-error.ts'
import type { Environment } from './environment.ts'

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

  const databaseUrl = environment['DATABASE_URL']
  if (databaseUrl !== undefined && !/^postgres(ql)?:\/\//.test(databaseUrl)) {
    faults.push('environment: DATABASE_URL is no postgresql:// URL')
  }
  if (faults.length > 0) throw new ConfigError(faults)
  return { signerKeys, keystores: opened, ...(databaseUrl === undefined ? {} : { databaseUrl }) }
}
