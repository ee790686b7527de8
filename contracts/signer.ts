import { BrowserProvider, Wallet } from 'ethers'
import type { RunningChain } from './chain.ts'

/** A signer for one of the chain's test accounts, connected to the node in this process. */
export function testSigner(chain: RunningChain, index = 0): Wallet {
  const account = chain.accounts[index]
  if (!account) throw new RangeError(`the chain has no account ${index}`)
  return new Wallet(account.privateKey, connect(chain))
}

/** An ethers provider on the node in this process; it remembers nothing, so that what it reads is never stale. */
export function connect(chain: RunningChain): BrowserProvider {
  return new BrowserProvider(chain.provider, chain.chainId, { cacheTimeout: -1, staticNetwork: true })
}
