import { JsonRpcProvider, toQuantity, Wallet } from 'ethers'
import type { HardhatRuntimeEnvironment } from 'hardhat/types/hre'
import { provisionFixture } from '../../contracts/deploy/fixture.ts'
import { startServer } from '../../server/start.ts'
import { developmentConfig, type Testbed } from '../../testbed/testbed.ts'
import { UsageError } from '../../conformance/lib/outcome.ts'
import { serveNetwork } from './serve-network.ts'

/** Of each account that the relay pays from, and of the one that provisions. */
const BALANCE_WEI = 1000n * 10n ** 18n
const PROFILE_FUNDS_WEI = 10n ** 18n
const RELAYER_COUNT = 4

export type HardhatRelay = Pick<Testbed, 'fixture' | 'relayUrl' | 'ethRpcBaseUrl' | 'rpcUrl' | 'close'>

/**
 * Starts the reference relay on the network that `--network` names, or the project's default one, with a profile on it.
 * All keys are new: none of the project's accounts is used.
 *
 * @param options `config`: members of the relay's configuration
 * @throws UsageError on a network whose node cannot set balances, as none but development nodes can
 */
export async function startRelay(
  hre: HardhatRuntimeEnvironment,
  { port, config = {} }: { readonly port: number; readonly config?: Readonly<Record<string, unknown>> },
): Promise<HardhatRelay> {
  const network = await serveNetwork(hre)
  const provider = new JsonRpcProvider(network.rpcUrl, undefined, { cacheTimeout: -1, batchMaxCount: 1 })
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
