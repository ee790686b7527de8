import { hardhatConfig } from './contracts/hardhat.ts'
import { solidity } from './contracts/solidity.ts'

export default { ...hardhatConfig, solidity }
