import { getBytes, keccak256, SigningKey, solidityPacked, solidityPackedKeccak256, Wallet } from 'ethers'

/** What a controller signs so that anyone may execute it on its behalf (LSP25). */
export interface RelayCallMessage {
  readonly keyManager: string
  readonly chainId: number | bigint
  /** `channel << 128 | id`, see {@link relayNonce}. */
  readonly nonce: bigint
  /** `start << 128 | end` in Unix seconds; absent: 0, so that the call is always valid. */
  readonly validityTimestamps?: bigint
  /** Wei that the relayer sends with the call; absent: 0. */
  readonly valueWei?: bigint
  /** Call data for the profile. */
  readonly payload: string
}

/**
 * The hash that is signed: version 0 of ERC-191 with the key manager as the validator, LSP25 version 25.
 *
 * @returns 32 bytes, hex. They are signed without the prefix of a personal message
 */
export function relayCallDigest(message: RelayCallMessage): string {
  return keccak256(
    solidityPacked(
      ['bytes2', 'address', 'uint256', 'uint256', 'uint256', 'uint256', 'uint256', 'bytes'],
      [
        '0x1900',
        message.keyManager,
        25,
        message.chainId,
        message.nonce,
        message.validityTimestamps ?? 0n,
        message.valueWei ?? 0n,
        message.payload,
      ],
    ),
  )
}

/** @returns the signature `r ‖ s ‖ v` of 65 bytes, hex, s low, v 27 or 28 */
export function signRelayCall(message: RelayCallMessage, privateKey: string): string {
  return new SigningKey(privateKey).sign(relayCallDigest(message)).serialized
}

/** The nonce of the `id`-th call (from 0) in a channel (LSP25); both have 128 bits. */
export function relayNonce(channel: bigint, id: bigint): bigint {
  return (channel << 128n) | id
}

/** LSP25's `validityTimestamps`. Both bounds are in Unix seconds and inclusive; the end 0 means no expiry. */
export function validityWindow(startSeconds: number, endSeconds: number): bigint {
  return (BigInt(startSeconds) << 128n) | BigInt(endSeconds)
}

/**
 * Signs a request of `POST /quota`: a personal message (EIP-191) over keccak256(packed(address, uint256)).
 * Clause relay.quota.hash.
 */
export function signQuota(request: { address: string; timestampSeconds: number }, privateKey: string): string {
  const hash = solidityPackedKeccak256(['address', 'uint256'], [request.address, request.timestampSeconds])
  return new Wallet(privateKey).signMessageSync(getBytes(hash))
}
