import { getBytes, hexlify } from 'ethers'
import type { Arbitrary } from 'fast-check'

/** How a signed request is changed, so that its signature is no longer one over it. */
export interface Tampering {
  readonly what: 'signature' | 'message' | 'number'
  /** Which bit is turned over; of the number: how much is added. */
  readonly at: number
}

export async function tamperings(): Promise<Arbitrary<Tampering>> {
  const { constantFrom, nat, record } = await import('fast-check')
  return record({ what: constantFrom('signature', 'message', 'number'), at: nat(511) })
}

/** Turns one bit over; the last byte of a signature, which is written in several ways, is left alone. */
export function flipBit(hex: string, at: number, bytes = getBytes(hex).length): string {
  const changed = getBytes(hex).slice()
  const bit = at % (bytes * 8)
  const byte = Math.floor(bit / 8)
  changed[byte] = (changed[byte] ?? 0) ^ (1 << (bit % 8))
  return hexlify(changed)
}
