import { AbiCoder, concat, Interface, toBeHex, zeroPadValue } from 'ethers'
import keyManagerArtifact from '../generated/LSP6KeyManager.json' with { type: 'json' }
import profileArtifact from '../generated/UniversalProfile.json' with { type: 'json' }
import { relayNonce, signRelayCall } from '../lsp25.ts'
import type { MinedTransaction, Sender } from './sender.ts'

/** A profile (LSP0, as published by LUKSO) and its key manager (LSP6 with LSP25). */
export interface Profile {
  readonly address: string
  readonly keyManager: string
}

export const profileInterface = new Interface(profileArtifact.abi)
export const keyManagerInterface = new Interface(keyManagerArtifact.abi)

/** The handover uses one nonce of this channel, so that the nonces of all other channels begin at 0. */
const HANDOVER_CHANNEL = (1n << 128n) - 1n

/** Deploys a profile, which the sender owns until {@link handOver}, and a key manager for it. */
export async function deployProfile(sender: Sender, fundsWei = 0n): Promise<Profile> {
  const profile = sender.deploy(withArguments(profileArtifact.bytecode, sender.address), fundsWei)
  const keyManager = sender.deploy(withArguments(keyManagerArtifact.bytecode, profile.address))
  await Promise.all([profile.deployed, keyManager.deployed])
  return { address: profile.address, keyManager: keyManager.address }
}

/** Writes the controllers of a new profile that the sender still owns. */
export async function setControllers(
  sender: Sender,
  profile: Profile,
  controllers: readonly Controller[],
): Promise<MinedTransaction> {
  const { keys, values } = controllerData(controllers)
  const data = profileInterface.encodeFunctionData('setDataBatch', [keys, values])
  return sender.mined(await sender.send({ to: profile.address, data }))
}

/**
 * Hands the profile from the sender to its key manager (LSP14, two steps). The key manager accepts by a relay call that
 * a controller signs, so no controller needs native coin. Steps that were done before are left out.
 *
 * @param privateKey the key of a controller with the permissions CHANGEOWNER and EXECUTE_RELAY_CALL
 */
export async function handOver(sender: Sender, profile: Profile, privateKey: string): Promise<void> {
  const [owner, pendingOwner] = await Promise.all([
    readAddress(sender, profile.address, 'owner'),
    readAddress(sender, profile.address, 'pendingOwner'),
  ])
  if (owner === profile.keyManager) return
  if (pendingOwner !== profile.keyManager) {
    const data = profileInterface.encodeFunctionData('transferOwnership', [profile.keyManager])
    await sender.mined(await sender.send({ to: profile.address, data }))
  }
  const payload = profileInterface.encodeFunctionData('acceptOwnership')
  const nonce = relayNonce(HANDOVER_CHANNEL, 0n)
  const { chainId } = await sender.provider.getNetwork()
  const signature = signRelayCall({ keyManager: profile.keyManager, chainId, nonce, payload }, privateKey)
  const data = keyManagerInterface.encodeFunctionData('executeRelayCall', [signature, nonce, 0n, payload])
  await sender.mined(await sender.send({ to: profile.keyManager, data }))
}

async function readAddress(sender: Sender, profile: string, getter: 'owner' | 'pendingOwner'): Promise<string> {
  const result = await sender.provider.call({ to: profile, data: profileInterface.encodeFunctionData(getter) })
  return profileInterface.decodeFunctionResult(getter, result)[0] as string
}

function withArguments(bytecode: string, address: string): string {
  return concat([bytecode, AbiCoder.defaultAbiCoder().encode(['address'], [address])])
}

const { permissions: PERMISSIONS, dataKeys: LSP6DataKeys } = keyManagerArtifact

/** A controller of a profile: who it is and what it may do (LSP6). */
interface Controller {
  readonly address: string
  /** Permission bits. */
  readonly permissions: bigint
}

/** All permissions of LSP6. Its own ALL_PERMISSIONS lacks those for re-entrancy and delegate calls. */
const everyPermission = Object.values(PERMISSIONS).reduce((all, permission) => all | BigInt(permission), 0n)

/** The permissions of the fixture's controllers. */
export const permissionSets = {
  full: everyPermission,
  noSign: everyPermission & ~BigInt(PERMISSIONS.SIGN),
  noRelay: everyPermission & ~BigInt(PERMISSIONS.EXECUTE_RELAY_CALL),
} as const

/**
 * The ERC725Y data that makes these the controllers of a new profile: `AddressPermissions[]` with its length and its
 * elements, and `AddressPermissions:Permissions:<address>` for each (LSP6).
 *
 * @returns arguments for `setDataBatch(bytes32[],bytes[])`
 */
export function controllerData(controllers: readonly Controller[]): { keys: string[]; values: string[] } {
  const list = LSP6DataKeys['AddressPermissions[]']
  const entries: (readonly [key: string, value: string])[] = [[list.length, toBeHex(controllers.length, 16)]]
  controllers.forEach(({ address, permissions }, index) => {
    entries.push([concat([list.index, toBeHex(index, 16)]), address])
    entries.push([permissionsKey(address), toBeHex(permissions, 32)])
  })
  return { keys: entries.map(([key]) => key), values: entries.map(([, value]) => value) }
}

/** The data key `AddressPermissions:Permissions:<address>` (LSP6). */
export function permissionsKey(address: string): string {
  return concat([LSP6DataKeys['AddressPermissions:Permissions'], zeroPadValue(address, 20)])
}
