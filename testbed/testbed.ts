import { readFile, rm } from 'node:fs/promises'
import { join } from 'node:path'
import {
  setBlockTime,
  startChain,
  type ChainOptions,
  type RunningChain,
  accountOf,
  unlockedSigner,
} from '../contracts/chain.ts'
import { assertPortIsFree } from '../contracts/port.ts'
import { deployBundler } from '../contracts/deploy/bundler.ts'
import { createSender } from '../contracts/deploy/sender.ts'
import { provisionFixture, type Fixture } from '../contracts/deploy/fixture.ts'
import { parseConfig, type LoadedConfig } from '../server/config/load.ts'
import { boundless } from '../server/services/ledger/budgets.ts'
import { startServer, type RunningServer, type StartOptions } from '../server/start.ts'
import { writePrivateJson, signedCall, signedQuota } from './fixture.ts'
import { tryRoutes } from './try-page.ts'

export interface TestbedOptions {
  /** Port of the server; 0 or absent: any free port. */
  readonly port?: number
  /** Port of the chain's node; 0 or absent: any free port. */
  readonly chainPort?: number
  /** Seconds between blocks; absent: a block for each transaction, immediately. */
  readonly blockTimeSeconds?: number
  /** Folder for the fixture file; absent: none is written. */
  readonly stateDir?: string
  /** Id and hard fork of the chain; absent: Hardhat's usual ones. */
  readonly chain?: Pick<ChainOptions, 'chainId' | 'hardfork'>
  /** Members of the server's configuration, in place of the testbed's own. */
  readonly config?: Readonly<Record<string, unknown>>
  /** Whether calls that wait for the same account share a transaction; absent: they do not. */
  readonly bundles?: boolean
  /** Further options of the server. */
  readonly server?: StartOptions
}

export interface DevelopmentOptions {
  readonly rpcUrl: string
  /** Private keys of the accounts that pay for the gas. */
  readonly signerKeys: readonly string[]
  /** Port of the server; 0: any free port. */
  readonly port: number
  /** Members in place of those of {@link developmentTree}. The members of `chain` are replaced one by one. */
  readonly config?: Readonly<Record<string, unknown>>
}

/** A chain with a profile on it, and the reference server that relays for it. */
export interface Testbed {
  readonly chain: RunningChain
  readonly server: RunningServer
  readonly fixture: Fixture
  /** Base URL of POST /execute and POST /quota. */
  readonly relayUrl: string
  /** Base URL of POST /api/eth-rpc. */
  readonly ethRpcBaseUrl: string
  /** URL of the chain's node. */
  readonly rpcUrl: string
  /** Path of the fixture file; absent: none was written. */
  readonly fixtureFile?: string
  close(): Promise<void>
}

const HOST = '127.0.0.1'

/** The roles of the chain's accounts, by index. The other accounts are free. */
const FUNDER = 0
const CONTROLLERS = { full: 1, noSign: 2, noRelay: 3 } as const
const BUNDLER_DEPLOYER = 15
const RELAYERS = [16, 17, 18, 19] as const

const PROFILE_FUNDS_WEI = 100n * 10n ** 18n

/**
 * Starts the testbed: Hardhat chain, contracts, fixture, reference server. Everything lives in this process and in
 * memory.
 *
 * @throws Error with the code EADDRINUSE if a port is taken; nothing is left running then
 */
export async function startTestbed(options: TestbedOptions = {}): Promise<Testbed> {
  const { port = 0, chainPort = 0 } = options
  await assertPortIsFree(port, HOST)
  const chain = await startChain({ ...options.chain, port: chainPort, host: HOST })
  const provisioning = provisionTestbed(chain)
  const routes = [...tryRoutes(() => provisioning), ...(options.server?.routes ?? [])]
  const samples = {
    execute: async () => signedCall(await provisioning),
    quota: async () => signedQuota(await provisioning),
  }
  const starting = configOf(chain, options).then((config) =>
    startServer(testbedConfig(chain, port, config), { samples, ...options.server, routes }),
  )
  const [served, provisioned] = await Promise.allSettled([starting, provisioning])
  let fixtureFile: string | undefined
  const close = async () => {
    if (fixtureFile !== undefined) await removeFixture(fixtureFile, chain.rpcUrl)
    if (served.status === 'fulfilled') await served.value.close()
    await chain.close()
  }
  try {
    const server = settledValue(served)
    const fixture = {
      ...settledValue(provisioned),
      server: { relayUrl: server.url, ethRpcBaseUrl: server.url },
    }
    // Set after the deployment, each step of which would otherwise wait for a block.
    if (options.blockTimeSeconds !== undefined) await setBlockTime(chain.provider, options.blockTimeSeconds)
    if (options.stateDir !== undefined) {
      const file = join(options.stateDir, 'testbed.json')
      await writePrivateJson(file, fixture)
      fixtureFile = file
    }
    return {
      chain,
      server,
      fixture,
      relayUrl: server.url,
      ethRpcBaseUrl: server.url,
      rpcUrl: chain.rpcUrl,
      ...(fixtureFile !== undefined && { fixtureFile }),
      close,
    }
  } catch (error) {
    await close()
    throw error
  }
}

/** The members of the server's configuration, with the bundler's address where calls share transactions. */
async function configOf(chain: RunningChain, { bundles = false, config }: TestbedOptions): Promise<typeof config> {
  if (!bundles) return config
  const contract = await deployBundler(await createSender(unlockedSigner(chain, BUNDLER_DEPLOYER)))
  return { ...config, relay: { bundle: { contract }, ...(config?.['relay'] as object | undefined) } }
}

/** Removes a fixture file, since its chain is gone. A file that another testbed has written meanwhile stays. */
async function removeFixture(file: string, rpcUrl: string): Promise<void> {
  const text = await readFile(file, 'utf8').catch(() => '')
  if (text.includes(JSON.stringify(rpcUrl))) await rm(file, { force: true })
}

/** The reference server's configuration in a testbed: it is open to all profiles, and nothing is kept after its end. */
export function testbedConfig(chain: RunningChain, port: number, config: TestbedOptions['config'] = {}): LoadedConfig {
  return developmentConfig({ rpcUrl: chain.rpcUrl, signerKeys: relayerKeysOf(chain), port, config })
}

/** Keys of the chain's accounts that pay for relay calls. */
export const relayerKeysOf = (chain: RunningChain) => RELAYERS.map((index) => accountOf(chain, index).privateKey)

/** The chain's account that pays for what is deployed. */
export const funderOf = (chain: RunningChain) => accountOf(chain, FUNDER)

/** The same configuration in front of any development node. */
export function developmentConfig(options: DevelopmentOptions): LoadedConfig {
  const baseFolder = process.cwd()
  const secrets = { signerKeys: options.signerKeys, keystores: [] }
  return { config: parseConfig(developmentTree(options), 'testbed', baseFolder), secrets, baseFolder }
}

/** The same configuration, as a configuration file would hold it. */
export function developmentTree({ rpcUrl, port, config = {} }: Omit<DevelopmentOptions, 'signerKeys'>) {
  const { chain, ...others } = config
  return {
    listen: { host: HOST, port },
    // The chain makes a block for each transaction, so no later block would ever confirm the last call.
    chain: { rpcUrls: [rpcUrl], confirmations: 0, ...(chain as object | undefined) },
    database: { folder: null },
    registration: 'open',
    unregistered: boundless,
    // A run of the suite costs a few million gas, so the usual 20,000,000 would be used up after a few runs.
    quota: { plans: { default: { model: 'gas', options: { gasPerPeriod: 1_000_000_000_000 } } } },
    // Rate limits hold for each caller, and a suite or a benchmark is one caller.
    limits: { requestsPerMinute: 0, relaysPerMinute: 0 },
    shutdown: { graceSeconds: 2 },
    log: { level: 'warn' },
    ...others,
  }
}

/** Deploys the fixture with the chain's known accounts, so that addresses are the same each time. */
export function provisionTestbed(chain: RunningChain): Promise<Fixture> {
  return provisionFixture(unlockedSigner(chain, FUNDER), {
    rpcUrl: chain.rpcUrl,
    // The URLs are known only when the server listens.
    relayUrl: '',
    ethRpcBaseUrl: '',
    profileFundsWei: PROFILE_FUNDS_WEI,
    controllers: {
      full: accountOf(chain, CONTROLLERS.full),
      noSign: accountOf(chain, CONTROLLERS.noSign),
      noRelay: accountOf(chain, CONTROLLERS.noRelay),
    },
    funder: accountOf(chain, FUNDER),
  })
}

function settledValue<Value>(result: PromiseSettledResult<Value>): Value {
  if (result.status === 'rejected') throw result.reason
  return result.value
}
