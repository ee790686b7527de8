export { hardhatConfig as default } from './contracts/hardhat.ts'
