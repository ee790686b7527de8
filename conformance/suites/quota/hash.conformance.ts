import { describe, summarise } from '../../lib/answer.ts'
import { clause } from '../../lib/clause.ts'
import { Fault } from '../../lib/outcome.ts'
import { askQuota, expectQuota, isServed, quotaReading, requireVerifiedFixture } from '../../lib/relay/quota.ts'
import { quotaReadings } from '../../lib/relay/quota-message.ts'

export default [
  clause('relay.quota.hash', (check) => {
    check('the packed message, hashed again as a personal message, is served', async (t) => {
      const answer = await askQuota(t, { reading: 'personal message' })
      if (isServed(answer)) return
      const other = await quotaReading(t)
      if (other !== 'personal message') t.observe(`what is taken instead: ${other}`)
      requireVerifiedFixture(t, answer)
      throw new Fault('the described signature was not taken', {
        expected: 'an object with quota',
        actual: describe(answer),
      })
    })
  }),

  clause('relay.quota.hash-other', (check) => {
    for (const reading of quotaReadings.slice(1)) {
      check(`another reading: ${reading}`, async (t) => {
        await expectQuota(t)
        const answer = await askQuota(t, { reading, timestamp: t.clock.now() })
        t.observe(`${reading}: ${isServed(answer) ? 'taken' : `refused with ${summarise(answer)}`}`)
      })
    }
  }),
]
