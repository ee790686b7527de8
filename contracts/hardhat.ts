import hardhatEthers from '@nomicfoundation/hardhat-ethers'
import type { HardhatUserConfig } from 'hardhat/config'
import { join } from 'node:path'

const folder = import.meta.dirname

/** The default of Hardhat and anvil. Its keys are public. */
export const TEST_MNEMONIC = 'test test test test test test test test test test test junk'

export const ACCOUNT_COUNT = 20

/** A block with thousands of logs fits into this limit. */
const BLOCK_GAS_LIMIT = 100_000_000

const simulated = {
  type: 'edr-simulated',
  chainId: 31337,
  accounts: { mnemonic: TEST_MNEMONIC, count: ACCOUNT_COUNT },
  blockGasLimit: BLOCK_GAS_LIMIT,
  // As on a real node, a transaction that reverts is mined, and sending it is no error.
  throwOnTransactionFailures: false,
  // Otherwise each block is a second later than the one before, and the chain's clock runs ahead in a quick test.
  allowBlocksWithSameTimestamp: true,
} as const

/**
 * The Hardhat project with the chains on which the contracts run. The settings of the compiler are in compile.ts.
 * Its networks are `automine` (a block for each transaction) and `interval` (a block every two seconds, unless overridden).
 */
export const hardhatConfig: HardhatUserConfig = {
  plugins: [hardhatEthers],
  paths: {
    sources: folder,
    artifacts: join(folder, 'cache', 'artifacts'),
    cache: join(folder, 'cache'),
    tests: join(folder, 'test'),
  },
  networks: {
    automine: { ...simulated, mining: { auto: true } },
    interval: { ...simulated, mining: { auto: false, interval: 2000 } },
  },
}
