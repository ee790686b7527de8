import { setTimeout as delay } from 'node:timers/promises'
import { clause } from '../../lib/clause.ts'
import { describe, isSuccess } from '../../lib/answer.ts'
import type { CheckContext } from '../../lib/context.ts'
import { Fault } from '../../lib/outcome.ts'
import { nonceIn, randomChannel, signCall } from '../../lib/relay/call.ts'
import { execute, expectAccepted, hashIn } from '../../lib/relay/execute.ts'
import { expectExecuted } from '../../lib/relay/executed.ts'
import { freshCall, freshCalls } from '../../lib/relay/first-execution.ts'
import { expectNotExecuted } from '../../lib/relay/not-executed.ts'
import { readData } from '../../lib/relay/profile.ts'
import { waitForReceipt } from '../../lib/relay/receipt.ts'
import { expectTwinExecuted } from '../../lib/relay/twin.ts'

/** Enough for a request to leave before the next one, so that they arrive in order. */
const headStartMs = 30

/** The first call of a channel, executed. */
function firstInChannel(t: CheckContext): Promise<{ readonly channel: bigint }> {
  return t.once('relay.execute.channels first', async (once) => {
    const channel = randomChannel()
    await expectExecuted(once, signCall(once, { nonce: nonceIn(channel, 0n) }))
    return { channel }
  })
}

export default [
  clause('relay.execute.key-manager-nonce', (check) => {
    check('a used nonce executes nothing anew', async (t) => {
      const [first, next] = await freshCalls(t, 2)
      if (!first || !next) return
      await expectTwinExecuted(t, first)
      const again = signCall(t, { nonce: first.message.nonce })
      await expectNotExecuted(t, { body: again.body, keys: [again.key], what: 'another call with a used nonce' }, next)
    })
  }),

  clause('relay.execute.channels', (check) => {
    check('a nonce above 2^53, as a JSON integer, is executed', async (t) => {
      await firstInChannel(t)
    })

    check('a second channel does not wait for the first, nor the first for it', async (t) => {
      const { channel } = await firstInChannel(t)
      await expectExecuted(t, signCall(t, { nonce: nonceIn(randomChannel(), 0n) }))
      await expectExecuted(t, signCall(t, { nonce: nonceIn(channel, 1n) }))
    })
  }),

  clause('relay.execute.channel-order', (check) => {
    check('three calls sent without waiting are executed in order', async (t) => {
      const key = (await freshCall(t)).key
      const calls = (await freshCalls(t, 3)).map(({ message }) => signCall(t, { nonce: message.nonce, key }))
      const answers = await Promise.all(
        calls.map(async ({ body }, index) => {
          await delay(index * headStartMs)
          return execute(t, body)
        }),
      )
      const places: bigint[] = []
      for (const answer of answers) {
        const receipt = await waitForReceipt(t, await expectAccepted(t, answer))
        if (receipt?.status !== '0x1') {
          throw new Fault('one of the calls was not executed', {
            expected: 'three transactions that succeed',
            actual: receipt ? `status ${receipt.status} of ${receipt.transactionHash}` : 'no such transaction',
          })
        }
        places.push((BigInt(receipt.blockNumber) << 32n) | BigInt(receipt.transactionIndex))
      }
      const value = await readData(t.chain, t.fixture.profile.address, key)
      if (
        places.every((place, index) => index === 0 || place > (places[index - 1] ?? 0n)) &&
        value === calls.at(-1)?.value
      )
        return
      throw new Fault('the calls were not executed in the order of their nonces')
    })
  }),

  clause('relay.execute.repeat', (check) => {
    check('the same request, sent again after it was executed', async (t) => {
      const call = await freshCall(t)
      const { transactionHash } = await expectTwinExecuted(t, call)
      const answer = await execute(t, call.body)
      const hash = hashIn(answer)
      if (hash === undefined && !isSuccess(answer) && !answer.failure) return
      if (typeof hash === 'string' && hash.toLowerCase() === transactionHash.toLowerCase()) return
      throw new Fault('a repeated request is neither refused nor answered with the same hash', {
        expected: `${transactionHash}, or a status of refusal`,
        actual: describe(answer),
      })
    })

    check('the same request, sent twice at once', async (t) => {
      const call = await freshCall(t)
      const answers = await Promise.all([execute(t, call.body), execute(t, call.body)])
      const accepted = answers.filter((answer) => hashIn(answer) !== undefined)
      const hashes = new Set(accepted.map((answer) => String(hashIn(answer)).toLowerCase()))
      if (accepted.length === 0) await expectAccepted(t, answers[0])
      const clear = answers.every((answer) => hashIn(answer) !== undefined || (answer.status ?? 0) >= 400)
      if (hashes.size === 1 && clear) return
      throw new Fault('the two are not answered with one hash, or one of them with a refusal', {
        expected: 'one hash',
        actual: answers.map(describe).join(' and '),
      })
    })
  }),
]
