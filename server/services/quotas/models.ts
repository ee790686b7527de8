import type { JsonSchema, QuotaAccount, QuotaPlugin } from '../../core/define.ts'
import { nextReset, periods, type Period } from './calendar.ts'
import { amountInUnit } from './exact-number.ts'

/** What quota models share: how a unit is charged, and how an account with or without a period shows itself. */

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
