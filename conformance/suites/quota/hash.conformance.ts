import { describeAnswer, summariseAnswer } from '../../lib/answer.ts'
import { clause } from '../../lib/clause.ts'
import { editionTerms } from '../../lib/target.ts'
import { Fault } from '../../lib/outcome.ts'
import { sendForbidden } from '../../lib/relay/quota.ts'
import { tellsQuota } from '../../lib/relay/answers.ts'
import { quotaReadings } from '../../lib/relay/message.ts'
import { quotaSession, signBody } from '../../lib/relay/quota-session.ts'

export default [
  clause('relay.quota.hash', (check) => {
    check('the packed message, hashed again as a personal message, is served', async (t) => {
      const session = await quotaSession(t)
      const { quotaMessage } = editionTerms[t.edition]
      if (session.reading === quotaMessage) return
      const answer = await sendForbidden(t, ({ timestamp }, { perSecond }) =>
        signBody(t, { perSecond, reading: quotaMessage }, timestamp / perSecond),
      )
      if (tellsQuota(answer)) return
      t.observe(`the target accepts instead: ${session.reading}`)
      throw new Fault(`the target refuses the described signature, and accepts another: ${session.reading}`, {
        expected: 'an object with quota',
        actual: describeAnswer(answer),
        answer,
      })
    })
  }),

  clause('relay.quota.hash-other', (check) => {
    for (const reading of quotaReadings.slice(1)) {
      check(`another reading: ${reading}`, async (t) => {
        const answer = await sendForbidden(t, ({ timestamp }, { perSecond }) =>
          signBody(t, { perSecond, reading }, timestamp / perSecond),
        )
        t.observe(`${reading}: ${tellsQuota(answer) ? 'taken' : `refused with ${summariseAnswer(answer)}`}`)
      })
    }
  }),
]
