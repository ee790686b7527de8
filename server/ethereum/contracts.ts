import { id } from 'ethers'

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
/**
 * The part of the contract ABI that every relay call goes through. Hex in, hex out: ethers' coder does the same and
 * much more, at twenty times the cost, which was the larger part of what a relay call cost here.
 */

/** An argument: a number (or an address, as one) of 256 bits, or `bytes` as hex. */
type Argument = bigint | string

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
