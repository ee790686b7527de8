import { defineQuota } from '../../core/define.ts'
import {
  type Period,
  chargingIn,
  countOption,
  optionsSchema,
  periodic,
  periodOption,
} from '../../services/quotas/models.ts'

interface Options {
  readonly gasPerPeriod: number
  readonly period: Period
}

const model = periodic('gas')

/** A monthly (or daily, or weekly) allowance of gas; the public relay of LUKSO gives 20,000,000 a month. */
export default defineQuota<never, Options>({
  id: 'gas',
  unit: 'gas',
  clauses: [
    'relay.quota.post',
    'relay.quota.quota-number',
    'relay.quota.unit',
    'relay.quota.total-quota',
    'relay.quota.total-is-available-plus-used',
    'relay.quota.reset-date',
    'relay.quota.reset-date-future',
  ],
  needs: [],
  options: optionsSchema({
    gasPerPeriod: countOption('Gas that a profile may use in a period.', 20_000_000),
    period: periodOption,
  }),
  open: (nowSeconds, _services, { gasPerPeriod, period }) => model.open(BigInt(gasPerPeriod), period, nowSeconds),
  remaining: model.remaining,
  ...chargingIn.gas,
})
