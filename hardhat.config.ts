import { soliditySettings } from './contracts/artifacts.ts'
import { hardhatConfig } from './contracts/hardhat.ts'

export default { ...hardhatConfig, solidity: soliditySettings() }
