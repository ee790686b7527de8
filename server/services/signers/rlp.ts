/** A byte string, or an empty list, such as an access list without entries. */
export type RlpItem = Uint8Array | 'empty list'

/**
 * Recursive Length Prefix encoding (Ethereum yellow paper, appendix B) of a list: what a transaction is made of. Bytes
 * in, bytes out; ethers' encoder takes and gives hex, at ten times the cost.
 */
export function encodeList(items: readonly RlpItem[]): Buffer {
  const parts: Uint8Array[] = []
  let length = 0
  const add = (part: Uint8Array) => {
    parts.push(part)
    length += part.length
  }
  for (const item of items) {
    if (item === 'empty list') {
      add(prefix(0, 0xc0))
      continue
    }
    // A byte below 0x80 is its own encoding.
    if (item.length !== 1 || (item[0] ?? 0) >= 0x80) add(prefix(item.length, 0x80))
    add(item)
  }
  return Buffer.concat([prefix(length, 0xc0), ...parts])
}

/** An integer as RLP wants it: big-endian, without leading zeros, zero as nothing. */
export function integerBytes(value: bigint | number): Buffer {
  if (BigInt(value) === 0n) return Buffer.alloc(0)
  const hex = value.toString(16)
  return Buffer.from(hex.length % 2 === 0 ? hex : `0${hex}`, 'hex')
}

function prefix(length: number, offset: 0x80 | 0xc0): Buffer {
  if (length <= 55) return Buffer.from([offset + length])
  const bytes = integerBytes(length)
  return Buffer.concat([Buffer.from([offset + 55 + bytes.length]), bytes])
}
