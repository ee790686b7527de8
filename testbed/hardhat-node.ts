// A Hardhat node in a process of its own: `node hardhat-node.ts <block time in seconds, 0: a block per transaction>`.
import { startChain } from '../contracts/chain.ts'

const blockTimeSeconds = Number(process.argv[2])
const chain = await startChain(blockTimeSeconds > 0 ? { blockTimeSeconds } : {})
process.once('SIGTERM', () => void chain.close().then(() => process.exit()))
console.log(`listening ${chain.rpcUrl}`)
