import { Interface, AbiCoder, concat, ZeroAddress } from 'ethers'
import { loadArtifact } from '../artifacts.ts'
import type { Sender } from './sender.ts'
import type { Profile } from './profile.ts'

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

export const impostorInterface = new Interface([
  'function calls() view returns (uint256)',
  'function mislead(bool whether)',
  'function claim(address profile)',
  'function forward(address to, bytes data) payable',
])

/** Deploys `Impostor`. Without `roles` it poses as a profile and as the key manager of that profile. */
export async function deployImpostor(sender: Sender, roles: Partial<Profile> = {}): Promise<Profile> {
  const { bytecode } = await loadArtifact('Impostor')
  const { address = ZeroAddress, keyManager = ZeroAddress } = roles
  const parameters = AbiCoder.defaultAbiCoder().encode(['address', 'address'], [address, keyManager])
  const { address: impostor, deployed } = sender.deploy(concat([bytecode, parameters]))
  await deployed
  return { address: roles.address ?? impostor, keyManager: roles.keyManager ?? impostor }
}

/** Deploys a profile, and the impostor that poses as its key manager. */
export async function deployFalseProfile(sender: Sender): Promise<Profile> {
  const { keyManager } = await deployImpostor(sender)
  const { address } = await deployImpostor(sender, { keyManager })
  const data = impostorInterface.encodeFunctionData('claim', [address])
  await sender.mined(await sender.send({ to: keyManager, data }))
  return { address, keyManager }
}
