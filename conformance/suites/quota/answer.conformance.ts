import { clause } from '../../lib/clause.ts'
import { Fault } from '../../lib/outcome.ts'
import { expectQuota } from '../../lib/relay/quota.ts'
import type { CheckContext } from '../../lib/context.ts'

const units = ['gas', 'lyx', 'transactionCount']
/** Later than this no allowance resets; what counts milliseconds lies far beyond. */
const tenYearsSeconds = 10 * 366 * 86_400

/** One answer that the clauses on its members look at together. */
function quotaOnce(t: CheckContext): Promise<Readonly<Record<string, unknown>>> {
  return t.once('quota.answer', (once) => expectQuota(once))
}

function expected(what: string, value: unknown): Fault {
  return new Fault(`it is not ${what}`, { expected: what, actual: JSON.stringify(value) ?? 'absent' })
}

export default [
  clause('relay.quota.post', (check) => {
    check('tells the quota of the profile', async (t) => {
      await quotaOnce(t)
    })
  }),

  clause('relay.quota.quota-number', (check) => {
    check('quota is a number', async (t) => {
      const { quota } = await quotaOnce(t)
      if (typeof quota !== 'number') throw expected('a number', quota)
    })
  }),

  clause('relay.quota.unit', (check) => {
    check('unit is one of three', async (t) => {
      const { unit } = await quotaOnce(t)
      if (typeof unit !== 'string' || !units.includes(unit)) throw expected(`one of ${units.join(', ')}`, unit)
    })
  }),

  clause('relay.quota.total-quota', (check) => {
    check('totalQuota is a number, or left out in a pay-as-you-go model', async (t) => {
      const { totalQuota } = await quotaOnce(t)
      if (totalQuota === undefined) return t.observe('totalQuota is left out: a pay-as-you-go model')
      if (typeof totalQuota !== 'number') throw expected('a number', totalQuota)
    })
  }),

  clause('relay.quota.reset-date', (check) => {
    check('resetDate is an integer, or left out in a pay-as-you-go model', async (t) => {
      const { resetDate } = await quotaOnce(t)
      if (resetDate === undefined) return t.observe('resetDate is left out: a pay-as-you-go model')
      if (!Number.isInteger(resetDate)) throw expected('an integer', resetDate)
    })
  }),

  clause('relay.quota.reset-date-future', (check) => {
    check('resetDate lies ahead, in seconds', async (t) => {
      const { resetDate } = await quotaOnce(t)
      if (resetDate === undefined) return t.observe('resetDate is left out')
      const now = t.clock.now()
      if (typeof resetDate === 'number' && resetDate > now && resetDate < now + tenYearsSeconds) return
      throw expected(`a time after ${now}, in seconds`, resetDate)
    })
  }),

  clause('relay.quota.pay-as-you-go', (check) => {
    check('which members are there', async (t) => {
      const answer = await quotaOnce(t)
      const missing = ['totalQuota', 'resetDate'].filter((name) => !(name in answer))
      const model = missing.length === 0 ? 'an allowance that resets' : `pay-as-you-go: no ${missing.join(', no ')}`
      t.observe(`${model}; unit ${String(answer['unit'])}`)
    })
  }),
]
