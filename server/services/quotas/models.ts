import type { JsonSchema, OpenedAccount, QuotaAccount, QuotaPlugin, Quota } from '../../core/define.ts'

/** What quota models share: when a period ends, how each unit is charged, and what `POST /quota` answers. */

/** The time after which a profile gets its allowance anew. */
export type Period = 'day' | 'week' | 'month'

const periods: readonly Period[] = ['day', 'week', 'month']

/** @returns the next 00:00 UTC of any day, of a Monday, or of the first day of a month, in Unix seconds */
export function nextReset(period: Period, nowSeconds: number): bigint {
  const now = new Date(nowSeconds * 1000)
  const [year, month, day] = [now.getUTCFullYear(), now.getUTCMonth(), now.getUTCDate()]
  switch (period) {
    case 'day':
      return seconds(Date.UTC(year, month, day + 1))
    case 'week':
      // `getUTCDay` counts from Sunday, which is 0.
      return seconds(Date.UTC(year, month, day + 7 - ((now.getUTCDay() + 6) % 7)))
    case 'month':
      return seconds(Date.UTC(year, month + 1, 1))
  }
}

const seconds = (ms: number) => BigInt(ms / 1000)

type Unit = QuotaPlugin['unit']
type Charging = Pick<QuotaPlugin<never, unknown>, 'reserve' | 'settle'>

/** The amount that a relay is charged in each unit: its gas, its cost in wei, or one. */
export const chargingIn: Readonly<Record<Unit, Charging>> = {
  gas: { reserve: ({ gasLimit }) => gasLimit, settle: ({ gasUsed }) => gasUsed },
  lyx: {
    reserve: ({ gasLimit, maxFeePerGasWei }) => gasLimit * maxFeePerGasWei,
    settle: ({ gasUsed, effectiveGasPriceWei, dataFeeWei }) => gasUsed * effectiveGasPriceWei + dataFeeWei,
  },
  transactionCount: { reserve: () => 1n, settle: () => 1n },
}

/** An allowance for each period. At the reset, the amount that is left expires. Clause relay.quota.reset-date. */
export function periodic(unit: Unit): Pick<QuotaPlugin, 'remaining'> & {
  open(allowance: bigint, period: Period, nowSeconds: number): OpenedAccount
} {
  return {
    open: (allowance, period, nowSeconds) => ({ allowance, resetAtSeconds: nextReset(period, nowSeconds) }),
    remaining: (account) => ({
      quota: left(account, unit),
      unit,
      totalQuota: amountInUnit(account.allowance, unit),
      resetDate: Number(account.resetAtSeconds ?? 0n),
    }),
  }
}

/** A balance that the operator tops up. It has no total and no reset. Clause relay.quota.pay-as-you-go. */
export function prepaid(unit: Unit): Pick<QuotaPlugin, 'remaining'> & {
  open(credit: bigint): OpenedAccount
} {
  return {
    open: (credit) => ({ allowance: credit, resetAtSeconds: null }),
    remaining: (account) => ({ quota: left(account, unit), unit }),
  }
}

/** The option `period` of a quota model. */
export const periodOption: JsonSchema = {
  description: 'How often the allowance is given anew: at 00:00 UTC, on Mondays, or on the first of the month.',
  type: 'string',
  enum: periods,
  default: 'month',
}

/** A numeric option, at most the largest integer that a JSON number holds exactly. */
export const countOption = (description: string, defaultValue: number): JsonSchema => ({
  description,
  type: 'integer',
  minimum: 0,
  maximum: Number.MAX_SAFE_INTEGER,
  default: defaultValue,
})

/** An option in wei, as a decimal string. */
export const weiOption = (description: string, defaultValue: string): JsonSchema => ({
  description,
  type: 'string',
  pattern: '^(?:0|[1-9][0-9]{0,77})$',
  default: defaultValue,
})

export const optionsSchema = (properties: Readonly<Record<string, JsonSchema>>): JsonSchema => ({
  type: 'object',
  additionalProperties: false,
  properties,
})

const left = ({ allowance, used }: QuotaAccount, unit: Unit) => amountInUnit(allowance - used, unit)

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
