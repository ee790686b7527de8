import type { ClauseId } from '../../../specs/index.ts'
import { objectOf } from '../../lib/answer.ts'
import { clause } from '../../lib/clause.ts'
import { Fault } from '../../lib/outcome.ts'
import { wrongSeconds } from '../../lib/relay/answers.ts'
import { firstTold } from '../../lib/relay/quota.ts'

/** An allowance resets within this time. A time in milliseconds, read as seconds, lies far beyond it. */
const tenYearsSeconds = 10 * 366 * 86_400

/**
 * Defines a clause about a member of the answer. Every answer that tells a quota is judged where it arrives; this
 * check asks for the first one.
 */
function member(id: ClauseId, title: string) {
  return clause(id, (check) => {
    check(title, async (t) => {
      const { totalQuota, resetDate } = objectOf((await firstTold(t)).answer) ?? {}
      if (id === 'relay.quota.total-quota' && totalQuota === undefined) {
        t.observe('totalQuota is left out: a pay-as-you-go model')
      }
      if (id === 'relay.quota.reset-date' && resetDate === undefined) {
        t.observe('resetDate is left out: a pay-as-you-go model')
      }
    })
  })
}

export default [
  clause('relay.quota.post', (check) => {
    check('tells the quota of the profile', async (t) => {
      await firstTold(t)
    })
  }),

  member('relay.quota.quota-number', 'quota is a number'),
  member('relay.quota.unit', 'unit is one of three'),
  member('relay.quota.total-quota', 'totalQuota is a number, or left out in a pay-as-you-go model'),
  member('relay.quota.reset-date', 'resetDate is an integer, or left out in a pay-as-you-go model'),

  clause('relay.quota.reset-date-future', (check) => {
    check('resetDate lies ahead, in seconds', async (t) => {
      const { answer, resetDate } = await firstTold(t)
      if (resetDate === undefined) return t.observe('resetDate is left out')
      const now = t.clock.now()
      if (typeof resetDate === 'number' && resetDate > now && resetDate < now + tenYearsSeconds) return
      const expected = `a time after ${now}, in seconds`
      throw new Fault(`resetDate is not ${expected}`, { expected, actual: wrongSeconds(resetDate), answer })
    })
  }),

  clause('relay.quota.pay-as-you-go', (check) => {
    check('which members are there', async (t) => {
      const told = objectOf((await firstTold(t)).answer) ?? {}
      const missing = ['totalQuota', 'resetDate'].filter((name) => !(name in told))
      const model = missing.length === 0 ? 'an allowance that resets' : `pay-as-you-go: no ${missing.join(', no ')}`
      t.observe(`${model}; unit ${String(told['unit'])}`)
    })
  }),
]
