import { encodeExecute, isAddress, isHex, operations, type Hex } from './abi.ts'

/**
 * What a profile does: call data for the profile itself (`setData`, `execute`, …), or a transaction as the profile would
 * send it. Without `to`, the transaction creates a contract.
 */
export type Call =
  string | { readonly to?: string | null; readonly value?: bigint | number | string; readonly data?: string }

/** Characters of a function's selector: `0x` and four bytes in hex. */
const SELECTOR_LENGTH = 10

/**
 * The call as the payload of a relay call (LSP25). A transaction to the profile itself is its data: a profile that calls
 * itself would need another permission.
 *
 * @throws TypeError the call cannot be encoded
 */
export function payloadOf(call: Call, profile: Hex): Hex {
  if (typeof call === 'string') {
    if (isHex(call) && call.length >= SELECTOR_LENGTH) return call
    throw new TypeError(`the payload has not four bytes of hex at least: ${call}`)
  }
  const { to, value = 0n, data = '0x' } = call
  const valueWei = BigInt(value)
  if (!isHex(data)) throw new TypeError(`the data of the call is not hex: ${String(data)}`)
  if (to === undefined || to === null) {
    if (data === '0x') throw new TypeError('the call has neither `to` nor data')
    return encodeExecute(operations.create, '0x0', valueWei, data)
  }
  if (!isAddress(to)) throw new TypeError(`the call goes to no address: ${String(to)}`)
  if (to.toLowerCase() !== profile.toLowerCase()) return encodeExecute(operations.call, to, valueWei, data)
  if (valueWei !== 0n) throw new TypeError('the profile cannot send coins to itself')
  return payloadOf(data, profile)
}
