import { clause } from '../../lib/clause.ts'
import { expectAccepted } from '../../lib/relay/execute.ts'
import { firstExecution } from '../../lib/relay/first-execution.ts'
import { expectQuota } from '../../lib/relay/quota.ts'
import type { Answer } from '../../lib/answer.ts'

/** `name: value` of the headers whose name fits. */
function headersLike(answer: Answer, pattern: RegExp): string {
  const found = Object.entries(answer.headers).filter(([name]) => pattern.test(name))
  return found.map(([name, value]) => `${name}: ${value}`).join(', ')
}

export default [
  clause('relay.auth.no-other-credential', (check) => {
    check('POST /execute', { needs: ['fixture', 'spend'] }, async (t) => {
      await expectAccepted(t, (await firstExecution(t)).answer)
    })

    check('POST /quota', { needs: ['fixture'] }, async (t) => {
      await expectQuota(t)
    })
  }),

  clause('relay.limits.rate', (check) => {
    check('headers of POST /quota', async (t) => {
      const answer = await t.relay.quota({}, { takeRateLimit: true })
      t.observe(headersLike(answer, /rate-?limit|retry-after/) || 'no header tells of a rate limit')
    })
  }),

  clause('relay.versioning', (check) => {
    check('headers of POST /quota', async (t) => {
      const answer = await t.relay.quota({})
      t.observe(headersLike(answer, /version/) || 'no header tells a version')
    })
  }),
]
