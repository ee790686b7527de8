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
  const { zeroes, others } = countBytes(callData)
  const standard = intrinsicOf(zeroes, others) + executionGas
  const floor = BASE_GAS + (others * 4n + zeroes) * TOKEN_FLOOR_GAS
  return standard > floor ? standard : floor
}

/** What a transaction takes of its gas limit before its call begins. @param callData hex */
export function intrinsicGas(callData: string): bigint {
  const { zeroes, others } = countBytes(callData)
  return intrinsicOf(zeroes, others)
}

const intrinsicOf = (zeroes: bigint, others: bigint) => BASE_GAS + others * BYTE_GAS + zeroes * ZERO_BYTE_GAS

function countBytes(callData: string): { readonly zeroes: bigint; readonly others: bigint } {
  let zeroes = 0
  for (let index = 2; index < callData.length; index += 2) {
    if (callData.charCodeAt(index) === 0x30 && callData.charCodeAt(index + 1) === 0x30) zeroes++
  }
  return { zeroes: BigInt(zeroes), others: BigInt((callData.length - 2) / 2 - zeroes) }
}
