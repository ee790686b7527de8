import { defineQuota } from '../../core/define.ts'
import {
  type Period,
  chargingIn,
  weiOption,
  optionsSchema,
  periodic,
  periodOption,
} from '../../services/quotas/models.ts'

interface Options {
  readonly weiPerPeriod: string
  readonly period: Period
}

const model = periodic('lyx')

/** An allowance of native coin for each period: relays are charged what their gas did cost. */
export default defineQuota<never, Options>({
  id: 'lyx',
  unit: 'lyx',
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
    weiPerPeriod: weiOption('Wei of the native coin that a profile may use in a period.', '100000000000000000'),
    period: periodOption,
  }),
  open: (nowSeconds, _services, { weiPerPeriod, period }) => model.open(BigInt(weiPerPeriod), period, nowSeconds),
  remaining: model.remaining,
  ...chargingIn.lyx,
})
