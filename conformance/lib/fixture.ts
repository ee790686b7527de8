import { readFile } from 'node:fs/promises'
import { UsageError } from './outcome.ts'
import { violations } from './schema.ts'

export interface Account {
  readonly address: string
  readonly privateKey: string
}

/** A profile on a chain with its key manager and controllers; `specs/schemas/fixture.json`. */
export interface Fixture {
  readonly chain: { readonly rpcUrl: string; readonly chainId: number }
  readonly server?: { readonly relayUrl?: string; readonly ethRpcBaseUrl?: string }
  readonly profile: { readonly address: string; readonly keyManager: string }
  /** `full` holds every permission, `noSign` all but SIGN, `noRelay` all but EXECUTE_RELAY_CALL. */
  readonly controllers: { readonly full: Account; readonly noSign: Account; readonly noRelay: Account }
  readonly logs?: {
    readonly emitter: string
    readonly fromBlock: number
    readonly toBlock: number
    readonly count: number
    /**
     * Logs of two contracts: first some with long data; then, in the last block, more than a page, by the two
     * contracts in turn.
     */
    readonly paired?: {
      readonly emitters: readonly [string, string]
      readonly fromBlock: number
      readonly toBlock: number
      readonly count: number
    }
  }
  /** Hashes of mined transactions by their kind, for example legacy, accessList, reverted, creation, largeValue. */
  readonly transactions?: Readonly<Record<string, string>>
  readonly funder?: Account
}

/** @throws UsageError that names each wrong field. The message repeats no value, since the file holds private keys. */
export function parseFixture(value: unknown, source: string): Fixture {
  const found = violations(value, 'fixture')
  if (found.length > 0) throw new UsageError(`${source} is not a fixture: ${found.join('; ')}`)
  return value as Fixture
}

/** @throws UsageError */
export async function readFixture(path: string): Promise<Fixture> {
  let text: string
  try {
    text = await readFile(path, 'utf8')
  } catch (error) {
    throw new UsageError(`the fixture ${path} cannot be read (${(error as NodeJS.ErrnoException).code ?? 'unknown'})`)
  }
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    throw new UsageError(`the fixture ${path} is not JSON`)
  }
  return parseFixture(value, path)
}
