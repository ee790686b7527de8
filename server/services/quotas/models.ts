import type { JsonSchema, QuotaAccount, QuotaPlugin } from '../../core/define.ts'
import { amountInUnit } from './exact-number.ts'

/** What quota models share: when a period ends, how a unit is charged, and how an account shows itself. */

/** How often an allowance is given anew. */
export type Period = 'day' | 'week' | 'month'

const periods: readonly Period[] = ['day', 'week', 'month']

/** Unix seconds of the next 00:00 UTC, of the next Monday's, or of that of the first of the next month. */
export function nextReset(period: Period, nowSeconds: number): bigint {
  const now = new Date(nowSeconds * 1000)
  const [year, month, day] = [now.getUTCFullYear(), now.getUTCMonth(), now.getUTCDate()]
  switch (period) {
    case 'day':
      return seconds(Date.UTC(year, month, day + 1))
    case 'week':
      // Sunday is 0: the next Monday is one day ahead of it.
      return seconds(Date.UTC(year, month, day + 7 - ((now.getUTCDay() + 6) % 7)))
    case 'month':
      return seconds(Date.UTC(year, month + 1, 1))
  }
}

const seconds = (ms: number) => BigInt(ms / 1000)

type Unit = QuotaPlugin['unit']
type Charging = Pick<QuotaPlugin<never, unknown>, 'reserve' | 'settle'>

/** How relays are charged in each unit: gas, wei, or one for each. */
export const chargingIn: Readonly<Record<Unit, Charging>> = {
  gas: { reserve: ({ gasLimit }) => gasLimit, settle: ({ gasUsed }) => gasUsed },
  lyx: {
    reserve: ({ gasLimit, maxFeePerGasWei }) => gasLimit * maxFeePerGasWei,
    settle: ({ gasUsed, effectiveGasPriceWei }) => gasUsed * effectiveGasPriceWei,
  },
  transactionCount: { reserve: () => 1n, settle: () => 1n },
}

/** An allowance for each period; what is left of it is lost at the reset. Clause relay.quota.reset-date. */
export function periodic(unit: Unit): Pick<QuotaPlugin, 'remaining'> & {
  open(allowance: bigint, period: Period, nowSeconds: number): ReturnType<QuotaPlugin['open']>
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

/** A balance that is topped up and used up: no total, no reset. Clause relay.quota.pay-as-you-go. */
export function prepaid(unit: Unit): Pick<QuotaPlugin, 'remaining'> & {
  open(credit: bigint): ReturnType<QuotaPlugin['open']>
} {
  return {
    open: (credit) => ({ allowance: credit, resetAtSeconds: null }),
    remaining: (account) => ({ quota: left(account, unit), unit }),
  }
}

/** Option `period`. */
export const periodOption: JsonSchema = {
  description: 'How often the allowance is given anew: at 00:00 UTC, on Mondays, or on the first of the month.',
  type: 'string',
  enum: periods,
  default: 'month',
}

/** An option that counts; beyond what a JSON number holds exactly it would be no count. */
export const countOption = (description: string, defaultValue: number): JsonSchema => ({
  description,
  type: 'integer',
  minimum: 0,
  maximum: Number.MAX_SAFE_INTEGER,
  default: defaultValue,
})

/** An option in wei: a decimal string. */
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
