import { toBeHex } from 'ethers'
import { type CheckContext, clause } from '../../lib/clause.ts'
import type { ValidOptions } from '../../lib/relay/attempt.ts'
import { relayForm, signCall } from '../../lib/relay/call.ts'
import { expectOwnExecution, firstExecution } from '../../lib/relay/first-execution.ts'
import { expectNotExecuted } from '../../lib/relay/not-executed.ts'

const hourSeconds = 3600n

/** The chain's time in Unix seconds, with which the key manager compares. */
async function chainTime(t: CheckContext): Promise<bigint> {
  const { timestamp } = (await t.chain.send('eth_getBlockByNumber', ['latest', false])) as { timestamp: string }
  return BigInt(timestamp)
}

/**
 * The number `start << 128
 * end`, and its text in the body.
 */
function windowOf(start: bigint, end: bigint) {
  const validityTimestamps = (start << 128n) | end
  return { validityTimestamps, validityText: toBeHex(validityTimestamps, 32) }
}

async function expectTaken(t: CheckContext, options: ValidOptions): Promise<void> {
  await expectOwnExecution(t, 'relay.execute.validity-timestamps', options)
}

export default [
  clause('relay.execute.validity-timestamps', (check) => {
    check('left out', async (t) => {
      const first = await firstExecution(t)
      // The clause on the body judges a target that insists on them.
      if ((await relayForm(t)).validityText !== undefined && first.faults[0]) throw first.faults[0]
      await expectTaken(t, {})
    })

    check('"0x0"', (t) => expectTaken(t, { validityText: '0x0' }))

    check('32 bytes of hex: zero', (t) => expectTaken(t, { validityText: toBeHex(0, 32) }))

    check('32 bytes of hex: a window that is open', async (t) => {
      const now = await chainTime(t)
      await expectTaken(t, windowOf(now - hourSeconds, now + hourSeconds))
    })

    check('a window that is over executes nothing', async (t) => {
      const now = await chainTime(t)
      await expectTaken(t, windowOf(now - 2n * hourSeconds, now + hourSeconds))
      await expectNotExecuted(t, {
        of: 'relay.execute.validity-timestamps',
        what: 'a window that is over',
        alter({ message: { nonce } }) {
          const late = signCall(t, { nonce, ...windowOf(now - 2n * hourSeconds, now - hourSeconds) })
          return { body: late.body, otherKeys: [late.key] }
        },
      })
    })
  }),
]
