import { hexlify } from 'ethers'
import { describeAnswer, isHungUp, isSuccess } from '../../lib/answer.ts'
import { type CheckContext, clause } from '../../lib/clause.ts'
import { Fault, Untestable } from '../../lib/outcome.ts'
import { attemptCall, inTurn, nextNonce, requireBlame } from '../../lib/relay/attempt.ts'
import { nonceIn, randomChannel, relayForm, signCall } from '../../lib/relay/call.ts'
import { execute } from '../../lib/relay/execute.ts'
import { readData } from '../../lib/relay/contracts.ts'
import {
  expectNotExecuted,
  expectOwnExecution,
  expectTwin,
  freshCall,
  isDone,
  lookAgain,
  requireFirstExecution,
} from '../../lib/relay/executions.ts'
import { hashIn, isAccepted, normalHash } from '../../lib/relay/answers.ts'
import { waitForReceipt } from '../../lib/relay/receipt.ts'
import { delay, randomBytes } from '../../lib/world.ts'

/**
 * How long a request leaves before the next one, so that the two arrive in order. There are several attempts, since on a
 * busy machine the second request may still have come first.
 */
const headStartsMs = [30, 60, 120] as const

/** How long to wait for the transaction of a request that was sent again. */
const repeatedMs = 5000
/** A target may remember the last nonce, or the last few. */
const farNonces = 4n

function inChannel(t: CheckContext, channel: bigint, id: bigint) {
  return expectOwnExecution(t, 'relay.execute.channels', { nonce: nonceIn(channel, id) })
}

/**
 * Sends three calls of channel 0 without waiting for answers.
 *
 * @returns how they were not executed in the order of their nonces, or why that was not seen; undefined: they were
 */
async function disorderOf(t: CheckContext, headStartMs: number): Promise<Fault | Untestable | undefined> {
  const key = hexlify(randomBytes(32))
  const { nonce } = (await freshCall(t)).message
  const form = await relayForm(t)
  const calls = [0n, 1n, 2n].map((id) => signCall(t, { ...form, nonce: nonce + id, key }))
  const answers = await Promise.all(
    calls.map(async ({ body }, index) => {
      await delay(index * headStartMs)
      return execute(t, body)
    }),
  )
  // A target, or what stands before it, may take few connections at a time.
  if (answers.some(isHungUp)) return new Untestable('the target closed the connection of one of three calls')
  const places: bigint[] = []
  for (const answer of answers) {
    const receipt = isAccepted(answer) ? await waitForReceipt(t, normalHash(String(hashIn(answer)))) : undefined
    if (receipt?.status !== '0x1') {
      if (!isAccepted(answer)) await requireBlame(t, answer)
      return new Fault('one of the calls was not executed', {
        expected: 'three transactions that succeed',
        actual: receipt ? `status ${receipt.status} of ${receipt.transactionHash}` : describeAnswer(answer),
        answer,
      })
    }
    places.push((BigInt(receipt.blockNumber) << 32n) | BigInt(receipt.transactionIndex))
  }
  const value = await readData(t.chain, t.fixture.profile.address, key)
  // One transaction may hold several calls.
  const isOrdered = places.every((place, index) => index === 0 || place >= (places[index - 1] ?? 0n))
  if (isOrdered && value === calls.at(-1)?.value) return undefined
  return new Fault('the calls were not executed in the order of their nonces', {
    expected: `the value of the last call, ${calls.at(-1)?.value}`,
    actual: value,
  })
}

/** The first call of a random channel, which is executed. */
function firstInChannel(t: CheckContext): Promise<{ readonly channel: bigint }> {
  return t.once('relay.execute.channels first', async (once) => {
    const channel = randomChannel()
    await inChannel(once, channel, 0n)
    return { channel }
  })
}

/**
 * Two controllers use the same nonce of one channel: the key manager counts for each by itself. A target may refuse calls of
 * other controllers, so its refusal counts only when it takes one of this controller with another nonce.
 *
 * @throws Fault when the target refuses the nonce because the other controller has used it
 */
async function expectNoncesOfEach(t: CheckContext): Promise<void> {
  const controller = t.fixture.controllers.noSign
  const nonce = nonceIn(randomChannel(), 0n)
  const isUnseen = (what: string) => t.observe(`not seen: ${what}`)
  await requireFirstExecution(t)
  if (!isDone(t, await attemptCall(t, { nonce }))) return isUnseen('a call of another channel is refused')
  const attempt = await attemptCall(t, { nonce, controller })
  for (const fault of attempt.hash === undefined ? [] : attempt.faults) t.accuse(fault)
  if (isDone(t, attempt) || attempt.hash !== undefined) return
  if (!isDone(t, await attemptCall(t, { controller, nonce: nonceIn(randomChannel(), 0n) }))) {
    return isUnseen('calls of another controller are refused')
  }
  const { answer, ...again } = await attemptCall(t, { nonce, controller })
  if (again.hash !== undefined) return isUnseen('the target refuses calls now and then')
  throw new Fault('the target refuses a nonce that another controller has used', {
    expected: 'a nonce of the key manager, which counts for each controller by itself',
    actual: describeAnswer(answer),
    answer,
  })
}

/**
 * Sends a call before its turn, and then the ones whose turn it is. A target may refuse the early call, keep it, or send it.
 *
 * @throws Fault when the target has refused the early call, and refuses the others too
 */
async function expectAfterEarlyCall(t: CheckContext): Promise<void> {
  await requireFirstExecution(t)
  const channel = randomChannel()
  if (!isDone(t, await attemptCall(t, { nonce: nonceIn(channel, 0n) })))
    return t.observe('not seen: a call of another channel is refused')
  const early = await execute(t, (await freshCall(t, { nonce: nonceIn(channel, 2n) })).body)
  if (early.failure || isSuccess(early))
    return t.observe(`not seen: a call before its turn is answered ${describeAnswer(early)}`)
  for (const id of [1n, 2n]) {
    const attempt = await attemptCall(t, { nonce: nonceIn(channel, id) })
    const [fault, ...others] = attempt.faults
    for (const other of others) t.accuse(other)
    if (fault) throw fault
  }
}

export default [
  clause('relay.execute.key-manager-nonce', (check) => {
    check('a call with a used nonce is not executed', (t) =>
      inTurn(t, async () => {
        const { call } = await expectTwin(t)
        await expectNotExecuted(t, {
          of: 'relay.execute.key-manager-nonce',
          what: 'another call with a used nonce',
          options: { nonce: call.message.nonce },
          alter: ({ body }) => ({ body }),
        })
      }),
    )

    check('a call with a nonce that was used long ago is not executed', (t) =>
      inTurn(t, async () => {
        await expectTwin(t)
        if ((await nextNonce(t)) <= farNonces) return t.observe('not seen: the controller has used few nonces')
        await expectNotExecuted(t, {
          of: 'relay.execute.key-manager-nonce',
          what: 'another call with a nonce that was used long ago',
          options: { nonce: 0n },
          alter: ({ body }) => ({ body }),
        })
      }),
    )

    // Some targets die of a second channel.
    check('a call with a used nonce of another channel is not executed', { isLast: true }, async (t) => {
      const nonce = nonceIn(randomChannel(), 0n)
      await requireFirstExecution(t)
      // A clause of its own judges a target that knows no channels.
      if (!isDone(t, await attemptCall(t, { nonce })))
        return t.observe('not seen: a call of another channel is refused')
      await expectNotExecuted(t, {
        of: 'relay.execute.key-manager-nonce',
        what: 'another call with a used nonce of another channel',
        options: { nonce },
        alter: ({ body }) => ({ body }),
      })
    })

    check(
      'each controller has nonces of its own',
      { needs: ['chain', 'fixture', 'spend'], isLast: true },
      async (t) => {
        try {
          await expectNoncesOfEach(t)
        } catch (error) {
          if (!(error instanceof Untestable)) throw error
          t.observe(`not seen: ${error.message}`)
        }
      },
    )

    check(
      'a call that comes before its turn keeps back none of the others',
      { needs: ['chain', 'fixture', 'spend'], isLast: true },
      expectAfterEarlyCall,
    )

    check('the call is not executed later on, after the next one', { looksBack: true }, async (t) => {
      await expectTwin(t)
      await lookAgain(t, 'relay.execute.key-manager-nonce')
    })
  }),

  clause('relay.execute.channels', (check) => {
    check('a nonce above 2^53, as a JSON integer, is executed', async (t) => {
      await firstInChannel(t)
    })

    check('a second channel does not wait for the first, nor the first for it', async (t) => {
      const { channel } = await firstInChannel(t)
      await inChannel(t, randomChannel(), 0n)
      await inChannel(t, channel, 1n)
    })
  }),

  clause('relay.execute.channel-order', (check) => {
    check('three calls sent without waiting are executed in order', async (t) => {
      await requireFirstExecution(t)
      let disorder: Fault | Untestable | undefined
      for (const headStartMs of headStartsMs) {
        disorder = await inTurn(t, () => disorderOf(t, headStartMs))
        if (!disorder) return
      }
      if (disorder) throw disorder
    })
  }),

  clause('relay.execute.repeat', (check) => {
    check('the same request, sent again after it was executed', async (t) => {
      const { call, hash } = await expectTwin(t)
      const answer = await execute(t, call.body)
      const again = hashIn(answer)
      if (again === undefined && !isSuccess(answer) && !answer.failure) return
      if (typeof again === 'string' && hash !== undefined && normalHash(again) === hash) return
      if (isAccepted(answer) && !(await waitForReceipt(t, normalHash(String(again)), repeatedMs))) {
        t.accuse(
          new Fault('the target told a hash that the chain never sees, for a request that it has executed', {
            expected: `${hash}, or a status of refusal`,
            actual: String(again),
            answer,
            of: 'relay.execute.hash-of-transaction',
          }),
        )
      }
      throw new Fault('the target neither refuses a repeated request nor answers it with the same hash', {
        expected: `${hash}, or a status of refusal`,
        actual: describeAnswer(answer),
        answer,
      })
    })

    check('the same request, sent twice at once', async (t) => {
      await requireFirstExecution(t)
      await inTurn(t, async () => {
        const { body } = await freshCall(t)
        const answers = await Promise.all([execute(t, body), execute(t, body)])
        // A target that takes no second connection closes it, and has seen no second request.
        const closed = answers.findIndex(isHungUp)
        if (closed >= 0) answers[closed] = await execute(t, body)
        if (answers.some(isHungUp)) throw new Untestable('the target closed the connection of a repeated request')
        const hashes = new Set(answers.filter(isAccepted).map((answer) => normalHash(String(hashIn(answer)))))
        for (const hash of hashes) await waitForReceipt(t, hash)
        const isClear = answers.every((answer) => hashIn(answer) !== undefined || (answer.status ?? 0) >= 400)
        if (hashes.size === 1 && isClear) return
        const [first] = answers
        if (hashes.size === 0) await requireBlame(t, first)
        throw new Fault('the target answers the two requests neither with one hash nor one of them with a refusal', {
          expected: 'one hash',
          actual: answers.map(describeAnswer).join(' and '),
          answer: first,
        })
      })
    })
  }),
]
