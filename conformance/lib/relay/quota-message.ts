import { hashMessage, solidityPackedKeccak256 } from 'ethers'
import { signDigest } from './message.ts'

/** The ways in which section 5 of the document can be read and is read in the wild; the first is what it describes. */
export const quotaReadings = ['personal message', 'raw digest', 'text', 'controller address'] as const

export type QuotaReading = (typeof quotaReadings)[number]

export interface QuotaMessage {
  /** The profile's address. */
  readonly address: string
  /** Unix seconds. */
  readonly timestamp: number
}

/**
 * Signs the message of POST /quota.
 *
 * - `personal message`: keccak256(address, timestamp) in solidity packing, hashed again with the EIP-191 prefix
 * - `raw digest`: the same without the prefix
 * - `text`: the personal message `<address>:<timestamp>`
 * - `controller address`: as the first, over the address of the controller
 */
export function signQuota(
  { address, timestamp }: QuotaMessage,
  controller: { readonly address: string; readonly privateKey: string },
  reading: QuotaReading = 'personal message',
): string {
  // Lower case: an address may be written in any, and the packing would check the letters.
  const packed = (whose: string): string =>
    solidityPackedKeccak256(['address', 'uint256'], [whose.toLowerCase(), timestamp])
  const personal = (whose: string): string => hashMessage(Buffer.from(packed(whose).slice(2), 'hex'))
  switch (reading) {
    case 'personal message':
      return signDigest(controller.privateKey, personal(address))
    case 'raw digest':
      return signDigest(controller.privateKey, packed(address))
    case 'text':
      return signDigest(controller.privateKey, hashMessage(`${address}:${timestamp}`))
    case 'controller address':
      return signDigest(controller.privateKey, personal(controller.address))
  }
}
