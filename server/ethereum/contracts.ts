import { id } from 'ethers'
import { encodeCall } from './abi.ts'

const selector = (signature: string) => id(signature).slice(0, 10)

const selectors = {
  owner: selector('owner()'),
  target: selector('target()'),
  supportsInterface: selector('supportsInterface(bytes4)'),
  getData: selector('getData(bytes32)'),
  getNonce: selector('getNonce(address,uint128)'),
  executeRelayCall: selector('executeRelayCall(bytes,uint256,uint256,bytes)'),
  executeRelayCallWithoutValidity: selector('executeRelayCall(bytes,uint256,bytes)'),
}

/** Call data for profiles (LSP0, ERC-173, ERC-165, ERC-725Y). */
export const profileCalls = {
  owner: encodeCall(selectors.owner),
  supportsInterface: (interfaceId: string) =>
    encodeCall(selectors.supportsInterface, BigInt(interfaceId.padEnd(66, '0'))),
  /** `AddressPermissions:Permissions:<address>` (LSP6). */
  permissions: (controller: string) =>
    encodeCall(selectors.getData, BigInt(`0x4b80742de2bf82acb3630000${controller.slice(2)}`)),
  /** Element of `AddressPermissions[]` (LSP6, LSP2): the address of a controller. */
  controller: (index: number) =>
    encodeCall(selectors.getData, BigInt(`0xdf30dba06db6a30e65354d9a64c60986${index.toString(16).padStart(32, '0')}`)),
}

/** Call data for key managers (LSP6, LSP25). */
export const keyManagerCalls = {
  target: encodeCall(selectors.target),
  supportsInterface: profileCalls.supportsInterface,
  /** The next nonce of a signer in a channel. */
  getNonce: (signer: string, channel: bigint) => encodeCall(selectors.getNonce, BigInt(signer), channel),
  /** LSP25, and LSP6 0x38bb3cdb before it. */
  executeRelayCall: (signature: string, nonce: bigint, validityTimestamps: bigint, payload: string) =>
    encodeCall(selectors.executeRelayCall, signature, nonce, validityTimestamps, payload),
  /** LSP6 0xfb437414, which knows no validity window. */
  executeRelayCallWithoutValidity: (signature: string, nonce: bigint, payload: string) =>
    encodeCall(selectors.executeRelayCallWithoutValidity, signature, nonce, payload),
}

/** Permission bits (LSP6). */
export const permissionBits = { SIGN: 0x200000n, EXECUTE_RELAY_CALL: 0x400000n } as const
