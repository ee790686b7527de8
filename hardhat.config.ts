import { hardhatConfig } from './contracts/hardhat.ts'
import { solidity } from './contracts/compile.ts'

export default { ...hardhatConfig, solidity }
