import { Interface } from 'ethers'

/** What the suite calls on a profile (LSP0). */
export const profileAbi = new Interface([
  'function setData(bytes32 dataKey, bytes dataValue)',
  'function getData(bytes32 dataKey) view returns (bytes)',
  'function getDataBatch(bytes32[] dataKeys) view returns (bytes[])',
  'function owner() view returns (address)',
  'event DataChanged(bytes32 indexed dataKey, bytes dataValue)',
])

/** What the suite reads of and expects at a key manager (LSP6, LSP25). */
export const keyManagerAbi = new Interface([
  'function getNonce(address from, uint128 channelId) view returns (uint256)',
  'function executeRelayCall(bytes signature, uint256 nonce, uint256 validityTimestamps, bytes payload) payable returns (bytes)',
  'function executeRelayCallBatch(bytes[] signatures, uint256[] nonces, uint256[] validityTimestamps, uint256[] values, bytes[] payloads) payable returns (bytes[])',
  'event PermissionsVerified(address indexed signer, uint256 indexed value, bytes4 indexed selector)',
])
