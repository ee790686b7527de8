import { toBeHex } from 'ethers'
import { clause } from '../../lib/clause.ts'
import type { CheckContext } from '../../lib/context.ts'
import { signCall } from '../../lib/relay/call.ts'
import { expectExecuted } from '../../lib/relay/executed.ts'
import { freshCall, freshCalls } from '../../lib/relay/first-execution.ts'
import { expectNotExecuted } from '../../lib/relay/not-executed.ts'
import { expectTwinExecuted } from '../../lib/relay/twin.ts'

const hourSeconds = 3600n

/** The chain's time in Unix seconds: what the key manager compares with. */
async function chainTime(t: CheckContext): Promise<bigint> {
  const { timestamp } = (await t.chain.send('eth_getBlockByNumber', ['latest', false])) as { timestamp: string }
  return BigInt(timestamp)
}

/** `start << 128 | end`, and how it is written in the body. */
function windowOf(start: bigint, end: bigint) {
  const validityTimestamps = (start << 128n) | end
  return { validityTimestamps, validityText: toBeHex(validityTimestamps, 32) }
}

export default [
  clause('relay.execute.validity-timestamps', (check) => {
    check('left out', async (t) => {
      await expectExecuted(t, await freshCall(t))
    })

    check('"0x0"', async (t) => {
      await expectExecuted(t, await freshCall(t, { validityText: '0x0' }))
    })

    check('32 bytes of hex: zero', async (t) => {
      await expectExecuted(t, await freshCall(t, { validityText: toBeHex(0, 32) }))
    })

    check('32 bytes of hex: a window that is open', async (t) => {
      const now = await chainTime(t)
      await expectExecuted(t, await freshCall(t, windowOf(now - hourSeconds, now + hourSeconds)))
    })

    check('a window that is over executes nothing', async (t) => {
      const now = await chainTime(t)
      const [twin, call] = await freshCalls(t, 2, windowOf(now - 2n * hourSeconds, now + hourSeconds))
      if (!twin || !call) return
      await expectTwinExecuted(t, twin)
      const { nonce } = call.message
      const late = signCall(t, { nonce, ...windowOf(now - 2n * hourSeconds, now - hourSeconds) })
      await expectNotExecuted(t, { body: late.body, keys: [late.key], what: 'a window that is over' }, call)
    })
  }),
]
