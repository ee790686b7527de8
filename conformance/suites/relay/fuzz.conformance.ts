import { describeAnswer } from '../../lib/answer.ts'
import { type CheckContext, clause } from '../../lib/clause.ts'
import {
  breakages,
  broken,
  expectNoServerError,
  expectProperty,
  flipBit,
  share,
  spell,
  type Spelling,
  spellings,
  type Tampering,
  tamperings,
} from '../../lib/fuzz.ts'
import { Fault } from '../../lib/outcome.ts'
import { hasEffect, inTurn } from '../../lib/relay/attempt.ts'
import { type RelayCall, requireExecutable, withTransaction } from '../../lib/relay/call.ts'
import { profileAbi } from '../../lib/relay/contracts.ts'
import { expectNotExecuted, expectTwin, freshCall } from '../../lib/relay/executions.ts'
import { hashIn, isAccepted, isHash, normalHash } from '../../lib/relay/answers.ts'
import { relayDigest, signDigest, signQuota, strangerAccount } from '../../lib/relay/message.ts'
import { expectRefused } from '../../lib/relay/quota.ts'
import { waitForReceipt } from '../../lib/relay/receipt.ts'

/** Sends a text that the target may execute, and records the transaction. */
async function executeText(t: CheckContext, text: string) {
  t.spending.ask()
  const answer = await t.relay.paths.execute.sendRaw(text, { once: true })
  const hash = hashIn(answer)
  if (isHash(hash)) t.spending.caused(normalHash(hash))
  return answer
}

/** The altered call, and the other data key that it would fill. */
function tampered({ body, message, signature }: RelayCall, { what, at }: Tampering) {
  if (what === 'signature') return { body: withTransaction(body, { signature: flipBit(signature, at, 64) }) }
  if (what === 'number') return { body: withTransaction(body, { nonce: message.nonce + 1n + BigInt(at) }) }
  const abi = flipBit(message.payload, at)
  const otherKey = parse(abi)
  return { body: withTransaction(body, { abi }), otherKeys: otherKey === undefined ? [] : [otherKey] }
}

/**
 * Sends one call in several spellings.
 *
 * @throws Fault when the target takes them for several calls
 */
async function expectOneEffect(t: CheckContext, spellings: readonly Spelling[], isAtOnce: boolean): Promise<void> {
  const call = await freshCall(t)
  await requireExecutable(t, call)
  const send = (spelling: Spelling) => executeText(t, spell(call.body, spelling))
  const answers = isAtOnce ? await Promise.all(spellings.map(send)) : []
  if (!isAtOnce) for (const spelling of spellings) answers.push(await send(spelling))
  const accepted = answers.filter(isAccepted)
  const hashes = [...new Set(accepted.map((answer) => normalHash(String(hashIn(answer)))))]
  const fault = (message: string, expected: string) =>
    new Fault(message, {
      expected,
      actual: answers.map(describeAnswer).join('\n'),
      ...(accepted[0] ? { answer: accepted[0] } : {}),
    })
  const [hash] = hashes
  if (hash === undefined) return
  if (hashes.length > 1)
    throw fault('the target gave several hashes for the spellings of one call', 'one hash, or one hash and refusals')
  await waitForReceipt(t, hash)
  if (!(await hasEffect(t, call)))
    throw fault('the target accepted the call and did not execute it', 'its effect on the profile')
}

/** The data key that the call data sets; undefined when the call data is no `setData`. */
function parse(data: string): string | undefined {
  try {
    return String(profileAbi.decodeFunctionData('setData', data)[0])
  } catch {
    return undefined
  }
}

export default [
  clause('relay.fuzz.no-server-error', (check) => {
    check('bodies of POST /execute that were broken at random, signed by a stranger', async (t) => {
      const { record } = await import('fast-check')
      const stranger = strangerAccount()
      const cases = record({ changes: await breakages(), spelling: await spellings() })
      await expectProperty(t, share(t, 1), cases, async (t, { changes, spelling }) => {
        const { body, message } = await freshCall(t)
        const signature = signDigest(stranger, relayDigest(message))
        const text = spell(broken(withTransaction(body, { signature }), changes), spelling)
        await expectNoServerError(() => executeText(t, text))
      })
    })

    check('bodies of POST /quota that were broken at random', { needs: ['fixture', 'fuzz'] }, async (t) => {
      const { record } = await import('fast-check')
      const { profile, controllers } = t.fixture
      const cases = record({ changes: await breakages(), spelling: await spellings() })
      await expectProperty(t, share(t, 1), cases, async (t, { changes, spelling }) => {
        const message = { address: profile.address, timestamp: t.clock.now() }
        const body = { ...message, signature: signQuota(message, controllers.noSign) }
        await expectNoServerError(() => t.relay.paths.quota.sendRaw(spell(broken(body, changes), spelling)))
      })
    })
  }),

  clause('relay.fuzz.one-effect', (check) => {
    check('one call in several spellings, one after the other or at once', async (t) => {
      const { array, boolean, record } = await import('fast-check')
      const cases = record({ spellings: array(await spellings(), { minLength: 2, maxLength: 4 }), isAtOnce: boolean() })
      await expectProperty(t, share(t, 0.2), cases, (t, { spellings, isAtOnce }) =>
        inTurn(t, () => expectOneEffect(t, spellings, isAtOnce)),
      )
    })
  }),

  clause('relay.fuzz.valid-signature', (check) => {
    check('signed calls that were changed at random', async (t) => {
      await t.once('relay.fuzz twin', (once) => expectTwin(once))
      await expectProperty(t, share(t, 0.5), await tamperings(), async (t, tampering) => {
        await expectNotExecuted(t, {
          of: 'relay.fuzz.valid-signature',
          what: `a changed ${tampering.what}`,
          alter: (call) => tampered(call, tampering),
        })
      })
    })
  }),

  clause('relay.fuzz.quota-signature', (check) => {
    check('signed requests that were changed at random', async (t) => {
      await expectProperty(t, share(t, 0.5), await tamperings(), async (t, { what, at }) => {
        await expectRefused(t, `a changed ${what}`, (body) => {
          const { signature, address, timestamp } = body
          if (what === 'signature') return { ...body, signature: flipBit(signature, at, 64) }
          if (what === 'message') return { ...body, address: flipBit(address, at) }
          return { ...body, timestamp: timestamp + 1 + (at % 3) }
        })
      })
    })
  }),
]
