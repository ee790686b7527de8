/** A byte string, or an empty list, such as an access list without entries. */
export type RlpItem = Uint8Array | 'empty list'

/**
 * Recursive Length Prefix encoding (Ethereum yellow paper, appendix B) of what a transaction is made of: the items one
 * after the other, without the prefix of the list. Bytes in, bytes out; ethers' encoder takes and gives hex, at ten
 * times the cost.
 */
export function encodeItems(items: readonly RlpItem[]): Buffer {
  const parts: Uint8Array[] = []
  for (const item of items) {
    if (item === 'empty list') {
      parts.push(prefix(0, 0xc0))
      continue
    }
    // A byte below 0x80 is its own encoding.
    if (item.length !== 1 || (item[0] ?? 0) >= 0x80) parts.push(prefix(item.length, 0x80))
    parts.push(item)
  }
  return Buffer.concat(parts)
}

/** What stands before the encoded items of a list. @param length of all of them, in bytes */
export const listPrefix = (length: number): Buffer => prefix(length, 0xc0)

/** An integer as RLP wants it: big-endian, without leading zeros, zero as nothing. */
export function integerBytes(value: bigint | number): Buffer {
  if (BigInt(value) === 0n) return Buffer.alloc(0)
  const hex = value.toString(16)
  return Buffer.from(hex.length % 2 === 0 ? hex : `0${hex}`, 'hex')
}

/** A big-endian integer without its leading zeros. */
export function withoutLeadingZeros(bytes: Uint8Array): Uint8Array {
  const first = bytes.findIndex((byte) => byte !== 0)
  return first === -1 ? bytes.subarray(bytes.length) : bytes.subarray(first)
}

function prefix(length: number, offset: 0x80 | 0xc0): Buffer {
  if (length <= 55) return Buffer.from([offset + length])
  const bytes = integerBytes(length)
  return Buffer.concat([Buffer.from([offset + 55 + bytes.length]), bytes])
}
