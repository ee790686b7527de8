import { Interface } from 'ethers'
import type { ChainTruth } from '../chain-truth.ts'

/** The functions and the event of a profile (LSP0) that the suite uses. */
export const profileAbi = new Interface([
  'function execute(uint256 operationType, address target, uint256 value, bytes data) payable returns (bytes)',
  'function setData(bytes32 dataKey, bytes dataValue)',
  'function getData(bytes32 dataKey) view returns (bytes)',
  'function getDataBatch(bytes32[] dataKeys) view returns (bytes[])',
  'function owner() view returns (address)',
  'event DataChanged(bytes32 indexed dataKey, bytes dataValue)',
  'event Executed(uint256 indexed operationType, address indexed target, uint256 value, bytes4 indexed selector)',
])

/** The functions and the event of a key manager (LSP6, LSP25) that the suite uses. */
export const keyManagerAbi = new Interface([
  'function getNonce(address from, uint128 channelId) view returns (uint256)',
  'function execute(bytes payload) payable returns (bytes)',
  'function executeRelayCall(bytes signature, uint256 nonce, uint256 validityTimestamps, bytes payload) payable returns (bytes)',
  'function executeRelayCallBatch(bytes[] signatures, uint256[] nonces, uint256[] validityTimestamps, uint256[] values, bytes[] payloads) payable returns (bytes[])',
  'event PermissionsVerified(address indexed signer, uint256 indexed value, bytes4 indexed selector)',
])

/** LSP6: the bits of the permissions that the suite looks at. */
export const permissions = { SIGN: 0x200000n, EXECUTE_RELAY_CALL: 0x400000n } as const

/** LSP6: `AddressPermissions:Permissions:<address>`, the data key that holds the permissions of a controller. */
export function permissionsKey(controller: string): string {
  return `0x4b80742de2bf82acb3630000${controller.slice(2).toLowerCase()}`
}

async function read(
  chain: ChainTruth,
  abi: Interface,
  to: string,
  name: string,
  args: readonly unknown[],
): Promise<unknown> {
  const data = abi.encodeFunctionData(name, args)
  const result = await chain.send('eth_call', [{ to, data }, 'latest'])
  return abi.decodeFunctionResult(name, String(result))[0]
}

/**
 * The value that the profile holds under a data key; `0x` when it holds none.
 *
 * @throws Untestable when the node does not answer
 */
export async function readData(chain: ChainTruth, profile: string, key: string): Promise<string> {
  return String(await read(chain, profileAbi, profile, 'getData', [key]))
}

/**
 * The values under several data keys, in the order of the keys.
 *
 * @throws Untestable when the node does not answer
 */
export async function readDataBatch(
  chain: ChainTruth,
  profile: string,
  keys: readonly string[],
): Promise<readonly string[]> {
  const values = await read(chain, profileAbi, profile, 'getDataBatch', [keys])
  return [...(values as Iterable<string>)]
}

/**
 * The owner of the profile: its key manager.
 *
 * @throws Untestable when the node does not answer
 */
export async function readOwner(chain: ChainTruth, profile: string): Promise<string> {
  return String(await read(chain, profileAbi, profile, 'owner', []))
}

/**
 * The next nonce of a controller in a channel. The nonce contains the channel.
 *
 * @throws Untestable when the node does not answer
 */
export async function readNonce(
  chain: ChainTruth,
  keyManager: string,
  controller: string,
  channel: bigint,
): Promise<bigint> {
  return BigInt(String(await read(chain, keyManagerAbi, keyManager, 'getNonce', [controller, channel])))
}
