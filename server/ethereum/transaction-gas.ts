const BASE_GAS = 21_000n
/** Per byte of call data (EIP-2028). */
const ZERO_BYTE_GAS = 4n
const BYTE_GAS = 16n
/** Least gas per token of call data, a byte other than zero being four tokens (EIP-7623). */
const TOKEN_FLOOR_GAS = 10n

/**
 * Gas of a whole transaction.
 *
 * @param callData hex
 * @param executionGas what the call itself uses
 */
export function transactionGas(callData: string, executionGas: bigint): bigint {
  let zeroes = 0
  for (let index = 2; index < callData.length; index += 2) {
    if (callData.charCodeAt(index) === 0x30 && callData.charCodeAt(index + 1) === 0x30) zeroes++
  }
  const zeroBytes = BigInt(zeroes)
  const bytes = BigInt((callData.length - 2) / 2) - zeroBytes
  const standard = BASE_GAS + bytes * BYTE_GAS + zeroBytes * ZERO_BYTE_GAS + executionGas
  const floor = BASE_GAS + (bytes * 4n + zeroBytes) * TOKEN_FLOOR_GAS
  return standard > floor ? standard : floor
}
