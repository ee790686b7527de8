import hardhatEthers from '@nomicfoundation/hardhat-ethers'
import type { HardhatUserConfig } from 'hardhat/config'
import { join } from 'node:path'

const folder = import.meta.dirname

/** Hardhat's default, and anvil's: everyone knows the keys. */
export const TEST_MNEMONIC = 'test test test test test test test test test test test junk'

export const ACCOUNT_COUNT = 20

/** Room for a block with thousands of logs. */
const BLOCK_GAS_LIMIT = 100_000_000

const simulated = {
  type: 'edr-simulated',
  chainId: 31337,
  accounts: { mnemonic: TEST_MNEMONIC, count: ACCOUNT_COUNT },
  blockGasLimit: BLOCK_GAS_LIMIT,
  // As a real node does: a transaction that reverts is mined, and sending it is no error.
  throwOnTransactionFailures: false,
  // Without it each block lies a second after the last, and a quick test drives the chain's clock into the future.
  allowBlocksWithSameTimestamp: true,
} as const

/**
 * The Hardhat project: the chains that our contracts run on. How they are compiled: artifacts.ts.
 * Networks: `automine` (a block per transaction) and `interval` (a block every two seconds; others by override).
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
