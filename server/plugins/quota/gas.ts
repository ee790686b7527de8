import { defineQuota } from '../../core/define.ts'
import { nextMonth } from '../../services/quotas/calendar.ts'
import { floorToNumber } from '../../services/quotas/exact-number.ts'

interface Options {
  /** Gas per month. */
  readonly monthlyGas: number
}

/** A monthly allowance of gas; the public relay of LUKSO gives 20,000,000. Resets on the first of the month, UTC. */
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
  options: {
    type: 'object',
    additionalProperties: false,
    properties: {
      monthlyGas: {
        description: 'Gas that a profile may use in a month.',
        type: 'integer',
        minimum: 0,
        maximum: Number.MAX_SAFE_INTEGER,
        default: 20_000_000,
      },
    },
  },
  open: (nowSeconds, _services, { monthlyGas }) => ({
    allowance: BigInt(monthlyGas),
    resetAtSeconds: nextMonth(nowSeconds),
  }),
  remaining: ({ allowance, used, resetAtSeconds }) => ({
    quota: floorToNumber(allowance - used),
    unit: 'gas',
    totalQuota: floorToNumber(allowance),
    resetDate: Number(resetAtSeconds),
  }),
  reserve: ({ gasLimit }) => gasLimit,
  settle: ({ gasUsed }) => gasUsed,
})
