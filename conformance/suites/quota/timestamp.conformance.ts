import { type CheckContext, clause } from '../../lib/clause.ts'
import { describeAnswer } from '../../lib/answer.ts'
import { editionTerms } from '../../lib/target.ts'
import { NumberLiteral } from '../../lib/lossless-json.ts'
import { Fault } from '../../lib/outcome.ts'
import { expectRefused, firstTold } from '../../lib/relay/quota.ts'
import { signQuota } from '../../lib/relay/message.ts'
import { quotaSession } from '../../lib/relay/quota-session.ts'
import { allowedWidth, type Probe } from '../../lib/relay/quota-window.ts'

function tenths(seconds: number): string {
  return String(Math.round(seconds * 10) / 10)
}

/** @throws Fault when the window is wider or narrower than the edition documents */
async function expectDocumentedWidth(t: CheckContext): Promise<void> {
  const { window } = await quotaSession(t)
  const away = ({ timestamp, sentAt }: Probe): number => timestamp - Math.floor(sentAt + t.clock.offsetSeconds)
  const [ago, ahead] = [-away(window.earliest), away(window.latest)]
  t.observe(`clock edges at ${ago} s ago and ${ahead} s ahead`)
  const half = editionTerms[t.edition].halfWindowSeconds
  if (half === null) return
  const { least, most } = allowedWidth(half)
  const expected = `${2 * half} s from the earliest to the latest timestamp, give or take the rounding`
  if (window.leastWidth > most) {
    const { answer } = ago > ahead ? window.earliest : window.latest
    const actual = `at least ${tenths(window.leastWidth)} s: from ${ago} s ago to ${ahead} s ahead`
    throw new Fault('the window is too wide', { expected, actual, answer })
  }
  const { tooEarly, tooLate, mostWidth } = window
  if (mostWidth < least && tooEarly && tooLate) {
    const { answer } = -away(tooEarly) < away(tooLate) ? tooEarly : tooLate
    const actual = `less than ${tenths(mostWidth)} s: ${-away(tooEarly)} s ago and ${away(tooLate)} s ahead are refused`
    throw new Fault('the window is too narrow', { expected, actual, answer })
  }
}

export default [
  clause('relay.quota.window', (check) => {
    check('now is served', async (t) => {
      await firstTold(t)
    })

    check('the served timestamps reach over as many seconds as documented', expectDocumentedWidth)

    // Wrong time zones and wrong dates are off by an hour or a day.
    for (const [what, away] of [
      ['an hour ago', -3600],
      ['an hour ahead', 3600],
      ['a day ago', -86_400],
      ['a day ahead', 86_400],
    ] as const) {
      check(`outside of the window: ${what} is refused`, async (t) => {
        await expectRefused(t, `a timestamp of ${what}`, (valid, { perSecond, reading }) => {
          const message = { ...valid, timestamp: valid.timestamp + away * perSecond }
          return { ...message, signature: signQuota(message, t.fixture.controllers.full, reading) }
        })
      })
    }

    check('outside of the window: zero is refused', async (t) => {
      await expectRefused(t, 'a timestamp of zero', (valid, { reading }) => {
        const message = { ...valid, timestamp: 0 }
        return { ...message, signature: signQuota(message, t.fixture.controllers.full, reading) }
      })
    })

    for (const [word, sign] of [
      ['ago', -1],
      ['ahead', 1],
    ] as const) {
      check(`outside of the window: many seconds ${word} are refused`, async (t) => {
        const outside = editionTerms[t.edition].outsideSeconds
        await expectRefused(t, `a timestamp ${outside} s ${word}`, (valid, { perSecond, reading }) => {
          const message = { ...valid, timestamp: valid.timestamp + sign * outside * perSecond }
          return { ...message, signature: signQuota(message, t.fixture.controllers.full, reading) }
        })
      })
    }
  }),

  clause('relay.quota.timestamp-seconds', (check) => {
    check('seconds are served, and milliseconds are refused', async (t) => {
      const { perSecond, secondsRefused } = await quotaSession(t)
      if (perSecond === 1000 && secondsRefused) {
        throw new Fault('the target refuses a timestamp in seconds, and serves one in milliseconds', {
          expected: 'a timestamp in seconds is served',
          actual: describeAnswer(secondsRefused),
          answer: secondsRefused,
        })
      }
      await expectRefused(t, 'a timestamp in milliseconds', (valid, { reading }) => {
        const message = { ...valid, timestamp: valid.timestamp * 1000 }
        return { ...message, signature: signQuota(message, t.fixture.controllers.full, reading) }
      })
    })
  }),

  clause('relay.quota.timestamp-integer', (check) => {
    const variants: readonly (readonly [what: string, value: (timestamp: number) => unknown])[] = [
      ['a decimal string', (timestamp) => String(timestamp)],
      ['a hex string', (timestamp) => `0x${timestamp.toString(16)}`],
      ['a fraction', (timestamp) => new NumberLiteral(`${timestamp}.5`)],
      ['an array that holds it', (timestamp) => [timestamp]],
      ['a boolean', () => true],
      ['null', () => null],
    ]
    for (const [what, value] of variants) {
      check(`${what} is refused`, (t) =>
        // The signature fits the integer that a lenient reader would make of the value.
        expectRefused(t, `${what} as timestamp`, (valid) => ({ ...valid, timestamp: value(valid.timestamp) })),
      )
    }
  }),
]
