import { type Signer, Wallet } from 'ethers'
import { type RunningChain, startChain, unlockedSigner } from '../../../contracts/chain.ts'
import { type Fixture, provisionFixture } from '../../../contracts/deploy/fixture.ts'
import { NodeProvider } from '../../../contracts/deploy/node-provider.ts'

/** The first account of every development node. */
const firstKey = '0xac0974bec39a17e36ba4a6b4d238ff944bacb478cbed5efcae784d7bf4f2ff80'

export interface ProvisionedChain extends RunningChain {
  /** The fixture names no relay, since each test brings its own. */
  readonly fixture: Fixture
}

/**
 * Deploys what the suite needs on a chain.
 *
 * @param privateKey of an account that holds coin
 */
export async function provisionOn(rpcUrl: string, privateKey = firstKey): Promise<Fixture> {
  const provider = new NodeProvider(rpcUrl, undefined, { pollingInterval: 20, cacheTimeout: -1 })
  try {
    return await provisionBy(new Wallet(privateKey, provider), rpcUrl)
  } finally {
    provider.destroy()
  }
}

/** A fresh chain with everything that the suite needs. */
export async function startProvisionedChain(): Promise<ProvisionedChain> {
  const chain = await startChain()
  return { ...chain, fixture: await provisionBy(unlockedSigner(chain, 0), chain.rpcUrl) }
}

function provisionBy(signer: Signer, rpcUrl: string): Promise<Fixture> {
  return provisionFixture(signer, {
    rpcUrl,
    relayUrl: 'http://127.0.0.1:1',
    ethRpcBaseUrl: 'http://127.0.0.1:1',
    profileFundsWei: 0n,
  })
}
