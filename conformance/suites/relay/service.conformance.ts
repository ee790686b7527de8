import type { Answer } from '../../lib/answer.ts'
import { clause } from '../../lib/clause.ts'
import { firstExecution, refusalIn } from '../../lib/relay/first-execution.ts'
import { firstTold } from '../../lib/relay/quota.ts'

/** The headers whose name fits the pattern, as `name: value`. */
function headersLike(answer: Answer, pattern: RegExp): string {
  const found = Object.entries(answer.headers).filter(([name]) => pattern.test(name))
  return found.map(([name, value]) => `${name}: ${value}`).join(', ')
}

export default [
  clause('relay.auth.no-other-credential', (check) => {
    check('POST /execute', { needs: ['fixture', 'spend'] }, async (t) => {
      const refusal = refusalIn(await firstExecution(t), 'relay.auth.no-other-credential')
      if (refusal) throw refusal
    })

    check('POST /quota', { needs: ['fixture'] }, async (t) => {
      await firstTold(t)
    })
  }),

  clause('relay.limits.rate', (check) => {
    check('headers of POST /quota', async (t) => {
      const answer = await t.once('relay.quota {}', ({ relay }) => relay.quota({}, { takeRateLimit: true }))
      t.observe(headersLike(answer, /rate-?limit|retry-after/) || 'no header tells of a rate limit')
    })
  }),

  clause('relay.versioning', (check) => {
    check('headers of POST /quota', async (t) => {
      const answer = await t.once('relay.quota {}', ({ relay }) => relay.quota({}, { takeRateLimit: true }))
      t.observe(headersLike(answer, /version/) || 'no header tells a version')
    })
  }),
]
