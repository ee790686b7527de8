import type { Quota } from '../../core/define.ts'

/** @returns the largest JavaScript number that is not above an exact amount; never NaN, never below zero */
export function floorToNumber(amount: bigint): number {
  if (amount <= 0n) return 0
  const nearest = Number(amount)
  return BigInt(nearest) <= amount ? nearest : previousDouble(nearest)
}

const WEI_PER_GWEI = 10n ** 9n
const GWEI_PER_LYX = 1e9

/** Converts wei to LYX, rounded down to the gwei. */
export function lyxFromWei(wei: bigint): number {
  return floorToNumber(wei / WEI_PER_GWEI) / GWEI_PER_LYX
}

/** Converts an amount of the ledger (gas, wei or count) to the unit of the interface (gas, LYX or count). */
export function amountInUnit(amount: bigint, unit: Quota['unit']): number {
  return unit === 'lyx' ? lyxFromWei(amount) : floorToNumber(amount)
}

/** @param value positive. @returns the next smaller number */
function previousDouble(value: number): number {
  const view = new DataView(new ArrayBuffer(8))
  view.setFloat64(0, value)
  view.setBigUint64(0, view.getBigUint64(0) - 1n)
  return view.getFloat64(0)
}
