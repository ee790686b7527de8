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
  readonly transactionsPerPeriod: number
  readonly period: Period
}

const model = periodic('transactionCount')

/** A number of relay calls for each period, whatever they cost. */
export default defineQuota<never, Options>({
  id: 'transaction-count',
  unit: 'transactionCount',
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
    transactionsPerPeriod: countOption('Transactions that a profile may use in a period.', 100),
    period: periodOption,
  }),
  open: (nowSeconds, _services, { transactionsPerPeriod, period }) =>
    model.open(BigInt(transactionsPerPeriod), period, nowSeconds),
  remaining: model.remaining,
  ...chargingIn.transactionCount,
})
