import { setTimeout as delay } from 'node:timers/promises'
import { describe } from '../../lib/answer.ts'
import { clause } from '../../lib/clause.ts'
import type { CheckContext } from '../../lib/context.ts'
import { NumberLiteral } from '../../lib/lossless-json.ts'
import { Fault, Untestable } from '../../lib/outcome.ts'
import { askQuota, expectNoQuota, expectQuota, isServed, quotaTwin } from '../../lib/relay/quota.ts'
import { reach } from '../../lib/relay/quota-clock.ts'
import { signQuota } from '../../lib/relay/quota-message.ts'

/** Well inside and well outside of the window of each edition, in seconds. */
const windows = { documents: { inside: 3, outside: 30 }, lip: { inside: 270, outside: 330 } }
/** A request that takes longer eats up the margin. */
const slowMs = 1000
/** How far the edge is looked for. */
const edgeLimitSeconds = 900

/** Asks for a time beside the target's now. */
function askAt(t: CheckContext, offsetSeconds: number) {
  return askQuota(t, { timestamp: t.clock.now() + offsetSeconds })
}

const sides = [
  ['ago', -1],
  ['ahead', 1],
] as const

export default [
  clause('relay.quota.window', (check) => {
    check('now is served', async (t) => {
      await expectQuota(t)
    })

    for (const [word, sign] of sides) {
      check(`inside of the window: some seconds ${word} are served`, async (t) => {
        const { inside } = windows[t.edition]
        await quotaTwin(t)
        let answer = await askAt(t, sign * inside)
        // A target may take a signed message only once, and another check may have sent this one.
        if (!isServed(answer)) answer = await delay(1100).then(() => askAt(t, sign * inside))
        if (isServed(answer)) return
        if (answer.durationMs > slowMs)
          throw new Untestable(`the answer took ${answer.durationMs} ms: too slow to tell`)
        throw new Fault(`a timestamp ${inside} s ${word} was refused`, {
          expected: 'a quota',
          actual: describe(answer),
        })
      })

      check(`outside of the window: many seconds ${word} are refused`, async (t) => {
        const { outside } = windows[t.edition]
        await quotaTwin(t)
        expectNoQuota(t, await askAt(t, sign * outside), `a timestamp ${outside} s ${word}`)
      })
    }

    check('where the edges lie', async (t) => {
      await quotaTwin(t)
      const accepts = async (offsetSeconds: number): Promise<boolean> => isServed(await askAt(t, offsetSeconds))
      const [ago, ahead] = [await reach(accepts, 0, -1, edgeLimitSeconds), await reach(accepts, 0, 1, edgeLimitSeconds)]
      const edge = (seconds: number): string => (seconds < edgeLimitSeconds ? `${seconds} s` : `more than ${seconds} s`)
      t.observe(`clock edges at ${edge(ago)} ago and ${edge(ahead)} ahead`)
    })
  }),

  clause('relay.quota.timestamp-seconds', (check) => {
    check('milliseconds are refused', async (t) => {
      const { body, reading } = await quotaTwin(t)
      const timestamp = body.timestamp * 1000
      const signature = signQuota({ ...body, timestamp }, t.fixture.controllers.full, reading)
      expectNoQuota(t, await t.relay.quota({ ...body, timestamp, signature }), 'a timestamp in milliseconds')
    })
  }),

  clause('relay.quota.timestamp-integer', (check) => {
    const variants: readonly (readonly [what: string, value: (timestamp: number) => unknown])[] = [
      ['a decimal string', (timestamp) => String(timestamp)],
      ['a fraction', (timestamp) => new NumberLiteral(`${timestamp}.5`)],
      ['an array that holds it', (timestamp) => [timestamp]],
      ['a boolean', () => true],
      ['null', () => null],
    ]
    for (const [what, value] of variants) {
      check(`${what} is refused`, async (t) => {
        // Signed over the integer that a lenient reader would make of it.
        const { body } = await quotaTwin(t)
        expectNoQuota(t, await t.relay.quota({ ...body, timestamp: value(body.timestamp) }), `${what} as timestamp`)
      })
    }
  }),
]
