import { Interface } from 'ethers'

/** What is asked of profiles (LSP0, ERC-173, ERC-725Y). */
export const profileInterface = new Interface([
  'function owner() view returns (address)',
  'function supportsInterface(bytes4) view returns (bool)',
  'function getData(bytes32) view returns (bytes)',
])

/** What is asked of key managers (LSP6, LSP25), before and after LSP25. */
export const keyManagerInterface = new Interface([
  'function target() view returns (address)',
  'function supportsInterface(bytes4) view returns (bool)',
  'function getNonce(address from, uint128 channelId) view returns (uint256)',
  'function executeRelayCall(bytes signature, uint256 nonce, uint256 validityTimestamps, bytes payload) payable returns (bytes)',
])

/** The relay call of key managers 0xfb437414, which know no validity window. */
export const keyManagerWithoutValidity = new Interface([
  'function executeRelayCall(bytes signature, uint256 nonce, bytes payload) payable returns (bytes)',
])

/** LSP6: `AddressPermissions:Permissions:<address>`. */
export function permissionsKey(controller: string): string {
  return `0x4b80742de2bf82acb3630000${controller.slice(2).toLowerCase()}`
}

/** Permission bits (LSP6). */
export const permissionBits = { SIGN: 0x200000n, EXECUTE_RELAY_CALL: 0x400000n } as const
