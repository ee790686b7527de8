/**
 * The part of the contract ABI that every relay call goes through. Hex in, hex out: ethers' coder does the same and
 * much more, at twenty times the cost, which was the larger part of what a relay call cost here.
 */

/** An argument: a number (or an address, as one) of 256 bits, or `bytes` as hex. */
export type Argument = bigint | string

/** Call data: the selector, and arguments of static 256-bit types or `bytes`. */
export function encodeCall(selector: string, ...values: readonly Argument[]): string {
  let head = ''
  let tail = ''
  for (const value of values) {
    if (typeof value === 'bigint') {
      head += word(value)
      continue
    }
    head += word(BigInt(values.length * 32 + tail.length / 2))
    tail += bytes(value)
  }
  return selector + head + tail
}

/** A number as 32 bytes, without `0x`. */
export function word(value: bigint | number): string {
  return value.toString(16).padStart(64, '0')
}

/** `bytes` with length and padding, without `0x`. */
export function bytes(hex: string): string {
  const digits = hex.length - 2
  return word(digits / 2) + hex.slice(2) + '0'.repeat((64 - (digits % 64)) % 64)
}

/** Reads results; positions count bytes. */
export class Reader {
  readonly #data: Buffer

  constructor(hex: string) {
    this.#data = Buffer.from(hex.slice(2), 'hex')
  }

  /** @throws RangeError when the data ends before */
  number(at: number): number {
    return Number(this.bigint(at))
  }

  bigint(at: number): bigint {
    if (at < 0 || at + 32 > this.#data.length) throw new RangeError('the result is too short')
    return BigInt(`0x${this.#data.toString('hex', at, at + 32)}`)
  }

  /** `bytes` at their length, as hex. */
  bytes(at: number): string {
    const length = this.number(at)
    if (at + 32 + length > this.#data.length) throw new RangeError('the result is too short')
    return `0x${this.#data.toString('hex', at + 32, at + 32 + length)}`
  }
}
