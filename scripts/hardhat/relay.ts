import type { NewTaskActionFunction } from 'hardhat/types/tasks'
import { once } from 'node:events'
import { type JsonRpcProvider, toQuantity, Wallet } from 'ethers'
import type { HardhatRuntimeEnvironment } from 'hardhat/types/hre'
import type { NetworkConnection } from 'hardhat/types/network'
import { run } from '../../conformance/cli.ts'
import { writePrivateJson } from '../../testbed/fixture.ts'
import { provisionFixture } from '../../contracts/deploy/fixture.ts'
import { NodeProvider } from '../../contracts/deploy/node-provider.ts'
import { startServer } from '../../server/start.ts'
import { developmentConfig, type Testbed } from '../../testbed/testbed.ts'
import { UsageError } from '../../conformance/lib/outcome.ts'

interface CheckArguments {
  readonly only: string | undefined
  /** `<format>=<file>`, separated by commas. */
  readonly report: string | undefined
  /** Packages or paths, separated by commas. */
  readonly suite: string | undefined
}

/** The task `relay:check`. Its exit code is that of the command `check`. */
export const relayCheck: NewTaskActionFunction<CheckArguments> = async ({ only, report, suite }, hre) => {
  const reports = report?.split(',') ?? []
  const argv = [
    ...(only === undefined ? [] : ['--only', only]),
    ...reports.flatMap((output) => ['--report', output]),
    ...(suite?.split(',') ?? []).flatMap((source) => ['--suite', source]),
  ]
  const exitCode = await run(argv, { startTestbed: (config) => startRelay(hre, { port: 0, config }) })
  if (exitCode !== 0) process.exitCode = exitCode
  return exitCode
}

const FIXTURE_FILE = '.touchstone/testbed.json'

/** The task `relay:up`: leaves the fixture where the commands `check` and `sign` look for it. */
export const relayUp: NewTaskActionFunction<{ readonly port: number }> = async ({ port }, hre) => {
  const stopped = Promise.race([once(process, 'SIGINT'), once(process, 'SIGTERM')])
  const relay = await startRelay(hre, { port })
  await writePrivateJson(FIXTURE_FILE, relay.fixture)
  console.log(`relay    ${relay.relayUrl}`)
  console.log(`chain    ${relay.rpcUrl}`)
  console.log(`profile  ${relay.fixture.profile.address}`)
  console.log(`fixture  ${FIXTURE_FILE}   holds the keys of test accounts`)
  await stopped
  await relay.close()
}

/** Of each account that the relay pays from, and of the one that provisions. */
const BALANCE_WEI = 1000n * 10n ** 18n
const PROFILE_FUNDS_WEI = 10n ** 18n
const RELAYER_COUNT = 4

type HardhatRelay = Pick<Testbed, 'fixture' | 'relayUrl' | 'ethRpcBaseUrl' | 'rpcUrl' | 'close'>

/**
 * Starts the reference relay on the network that `--network` names, or the project's default one, with a profile on it.
 * All keys are new: none of the project's accounts is used.
 *
 * @param options `config`: members of the relay's configuration
 * @throws UsageError on a network whose node cannot set balances, as none but development nodes can
 */
async function startRelay(
  hre: HardhatRuntimeEnvironment,
  { port, config = {} }: { readonly port: number; readonly config?: Readonly<Record<string, unknown>> },
): Promise<HardhatRelay> {
  const network = await serveNetwork(hre)
  const provider = new NodeProvider(network.rpcUrl, undefined, { cacheTimeout: -1, batchMaxCount: 1 })
  try {
    const funder = Wallet.createRandom().connect(provider)
    const relayers = Array.from({ length: RELAYER_COUNT }, () => Wallet.createRandom())
    await setBalances(
      provider,
      [funder, ...relayers].map(({ address }) => address),
    )
    const signerKeys = relayers.map(({ privateKey }) => privateKey)
    const server = await startServer(developmentConfig({ rpcUrl: network.rpcUrl, signerKeys, port, config }))
    const close = async (): Promise<void> => {
      await server.close()
      await network.close()
    }
    try {
      const fixture = await provisionFixture(funder, {
        rpcUrl: network.rpcUrl,
        relayUrl: server.url,
        ethRpcBaseUrl: server.url,
        profileFundsWei: PROFILE_FUNDS_WEI,
        funder: { address: funder.address, privateKey: funder.privateKey },
      })
      return { fixture, relayUrl: server.url, ethRpcBaseUrl: server.url, rpcUrl: network.rpcUrl, close }
    } catch (error) {
      await server.close()
      throw error
    }
  } catch (error) {
    await network.close()
    throw error
  } finally {
    provider.destroy()
  }
}

/** Hardhat's method, which anvil knows too. */
async function setBalances(provider: JsonRpcProvider, addresses: readonly string[]): Promise<void> {
  try {
    for (const address of addresses) await provider.send('hardhat_setBalance', [address, toQuantity(BALANCE_WEI)])
  } catch (cause) {
    throw new UsageError(
      'the node of this network sets no balances: use the commands provision and check of touchstone there',
      { cause },
    )
  }
}

interface ServedNetwork {
  readonly rpcUrl: string
  close(): Promise<void>
}

/** As a real node does: a reverted transaction is no error of sending, and blocks keep to the clock. */
const nodeBehaviour = { throwOnTransactionFailures: false, allowBlocksWithSameTimestamp: true } as const

/**
 * The URL of the network that `--network` names, or of the default one. A simulated network is started in this process
 * and served on a free port, with the project's own settings.
 */
async function serveNetwork(hre: HardhatRuntimeEnvironment): Promise<ServedNetwork> {
  const name = hre.globalOptions.network ?? 'default'
  const config = hre.config.networks[name]
  if (config?.type === 'http') return { rpcUrl: await config.url.getUrl(), close: async () => undefined }

  const connections: Pick<NetworkConnection, 'close'>[] = []
  // Hardhat gives access to the connection of createServer in this way only.
  hre.hooks.registerHandlers('network', {
    newConnection: async (context, next) => {
      const connection = await next(context)
      connections.push(connection)
      return connection
    },
  })
  const server = await hre.network.createServer({ network: name, override: nodeBehaviour }, '127.0.0.1', 0)
  const { address, port } = await server.listen()
  return {
    rpcUrl: `http://${address}:${port}`,
    close: async () => {
      await server.close()
      for (const connection of connections) await connection.close()
    },
  }
}
