import { solidity } from './contracts/compile.ts'
import { hardhatConfig } from './contracts/hardhat.ts'

export default { ...hardhatConfig, solidity }
