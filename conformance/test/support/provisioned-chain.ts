import { JsonRpcProvider, Wallet } from 'ethers'
import { startChain, type RunningChain } from '../../../contracts/chain.ts'
import { provisionFixture, type Fixture } from '../../../contracts/deploy/fixture.ts'

export interface ProvisionedChain extends RunningChain {
  /** Names no relay: the tests bring their own. */
  readonly fixture: Fixture
}

/** A fresh chain with everything that the suite needs to find there. */
export async function startProvisionedChain(): Promise<ProvisionedChain> {
  const chain = await startChain()
  const funder = chain.accounts[0]
  if (!funder) throw new Error('the chain has no accounts')
  const provider = new JsonRpcProvider(chain.rpcUrl, undefined, { pollingInterval: 20, cacheTimeout: -1 })
  const fixture = await provisionFixture(new Wallet(funder.privateKey, provider), {
    rpcUrl: chain.rpcUrl,
    relayUrl: 'http://127.0.0.1:1',
    ethRpcBaseUrl: 'http://127.0.0.1:1',
    profileFundsWei: 0n,
  })
  provider.destroy()
  return { ...chain, fixture }
}
