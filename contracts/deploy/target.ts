import { Interface } from 'ethers'
import { loadArtifact } from '../artifacts.ts'
import type { Sender } from './sender.ts'

export const targetInterface = new Interface([
  'event Called(address indexed caller, uint256 value, uint256 calls)',
  'error Refused(address caller, uint256 reason)',
  'function calls() view returns (uint256)',
  'function lastValue() view returns (uint256)',
  'function succeed(uint256 value) payable returns (uint256)',
  'function refuse(uint256 reason) payable',
  'function refuseWithText(string text) payable',
  'function refuseSilently() payable',
  'function burnGas(uint256 amount) payable',
])

/** Deploys a contract for a profile to call. @returns its address */
export async function deployTarget(sender: Sender): Promise<string> {
  const { bytecode } = await loadArtifact('Target')
  const { address, deployed } = sender.deploy(bytecode)
  await deployed
  return address
}
