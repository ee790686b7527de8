import type { ClauseId } from '../../../specs/index.ts'
import { describeAnswer, objectOf, summariseAnswer } from '../../lib/answer.ts'
import { clause } from '../../lib/clause.ts'
import { Fault } from '../../lib/outcome.ts'
import { wrongSeconds } from '../../lib/relay/answers.ts'
import { signQuota, strangerAccount } from '../../lib/relay/message.ts'
import { quotaSession } from '../../lib/relay/quota-session.ts'
import { firstTold, refusalOfVariant, sendForbidden } from '../../lib/relay/quota.ts'

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

    check('takes the address in lower case', async (t) => {
      const { full } = t.fixture.controllers
      const answer = await refusalOfVariant(t, ({ address, timestamp }, { reading }) => {
        const message = { address: address.toLowerCase(), timestamp }
        return { ...message, signature: signQuota(message, full, reading) }
      })
      if (!answer) return
      throw new Fault('the target refuses the address in lower case', {
        expected: 'an object with quota, as for the address with its checksum',
        actual: describeAnswer(answer),
        answer,
      })
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
      // The time of the target when it was asked: an allowance may begin anew soon after.
      const { firstSentMs } = await quotaSession(t)
      const now = Math.floor(firstSentMs / 1000 + t.clock.offsetSeconds)
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

  clause('relay.quota.unregistered', (check) => {
    check('an address that nobody registered', async (t) => {
      // A random address that signs for itself, which no relay has registered.
      const stranger = strangerAccount()
      const message = { address: stranger.address, timestamp: t.clock.now() }
      const answer = await t.relay.quota({ ...message, signature: signQuota(message, stranger) })
      t.observe(`an address without a profile: ${summariseAnswer(answer)}`)
    })
  }),

  clause('relay.quota.errors', (check) => {
    check('bodies that are no request', { needs: [] }, async (t) => {
      const { quota } = t.relay.paths
      const json = { 'content-type': 'application/json' }
      const empty = await t.once('relay.quota {}', ({ relay }) => relay.quota({}, { takeRateLimit: true }))
      t.observe(`no JSON: ${summariseAnswer(await quota.sendRaw('{"address":', { headers: json }))}`)
      t.observe(`an empty body: ${summariseAnswer(await quota.sendRaw(undefined, { headers: json }))}`)
      t.observe(`an empty object: ${summariseAnswer(empty)}`)
      t.observe(
        `text/plain: ${summariseAnswer(await quota.sendRaw('{}', { headers: { 'content-type': 'text/plain' } }))}`,
      )
      t.observe(`GET: ${summariseAnswer(await quota.sendRaw(undefined, { method: 'GET', headers: {} }))}`)
    })

    check('requests that are refused', async (t) => {
      const { full, noSign } = t.fixture.controllers
      const ask = async (signer: typeof full, away = 0): Promise<string> =>
        summariseAnswer(
          await sendForbidden(t, (valid, { perSecond, reading }) => {
            const message = { ...valid, timestamp: valid.timestamp + away * perSecond }
            return { ...message, signature: signQuota(message, signer, reading) }
          }),
        )
      t.observe(`a stranger’s signature: ${await ask(strangerAccount())}`)
      t.observe(`a controller without SIGN: ${await ask(noSign)}`)
      t.observe(`a timestamp that is long past: ${await ask(full, -3600)}`)
    })
  }),
]
