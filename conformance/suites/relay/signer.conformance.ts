import { hexlify } from 'ethers'
import { type CheckContext, clause } from '../../lib/clause.ts'
import { expect } from '../../lib/expect.ts'
import { type RelayCall, requireRefusedByChain, signCall, withTransaction } from '../../lib/relay/call.ts'
import { expectNotExecuted, expectTwin, freshCall, lookAgain } from '../../lib/relay/executions.ts'
import { relayDigest, type RelayMessage, signDigest, strangerAccount } from '../../lib/relay/message.ts'
import { randomBytes } from '../../lib/world.ts'

const needs = ['chain', 'fixture', 'spend'] as const

interface Falsified {
  readonly signature: string
  /** The data key of the call that the signature belongs to. */
  readonly otherKey?: string
}

/** The controller's signature over another message. */
function over(call: RelayCall, change: Partial<RelayMessage>): string {
  return signDigest(call.controller, relayDigest({ ...call.message, ...change }))
}

const falsifications: readonly (readonly [what: string, falsify: (call: RelayCall, t: CheckContext) => Falsified])[] = [
  ['a stranger’s signature', ({ message }) => ({ signature: signDigest(strangerAccount(), relayDigest(message)) })],
  [
    'a signature over another payload',
    (call, t) => {
      const other = signCall(t, { nonce: call.message.nonce })
      return { signature: other.signature, otherKey: other.key }
    },
  ],
  ['a signature over another nonce', (call) => ({ signature: over(call, { nonce: call.message.nonce + 1n }) })],
  [
    'a signature for another key manager',
    (call) => ({ signature: over(call, { keyManager: hexlify(randomBytes(20)) }) }),
  ],
  ['a signature for another chain', (call) => ({ signature: over(call, { chainId: call.message.chainId + 1n }) })],
  ['a truncated signature', ({ signature }) => ({ signature: signature.slice(0, -8) })],
  ['a signature of zeros', () => ({ signature: `0x${'00'.repeat(65)}` })],
  ['a signature of no bytes', () => ({ signature: '0x' })],
]

export default [
  clause('relay.execute.bad-signature', (check) => {
    for (const [what, falsify] of falsifications) {
      check(`${what} executes nothing`, { needs }, async (t) => {
        await t.once('relay.execute.bad-signature twin', expectTwin)
        await expectNotExecuted(t, {
          of: 'relay.execute.bad-signature',
          what,
          alter(call) {
            const { signature, otherKey } = falsify(call, t)
            const otherKeys = otherKey === undefined ? [] : [otherKey]
            return { body: withTransaction(call.body, { signature }), otherKeys }
          },
        })
      })
    }

    // A target may take the next nonce from the key manager, in place of that of the request.
    check('a nonce that is not the signed one executes nothing', { needs }, async (t) => {
      await t.once('relay.execute.bad-signature twin', expectTwin)
      await expectNotExecuted(t, {
        of: 'relay.execute.bad-signature',
        what: 'a nonce that is not the signed one',
        alter: ({ body, message }) => ({ body: withTransaction(body, { nonce: message.nonce + 1n }) }),
      })
    })

    // A target may remember signatures that it has verified.
    check('the signature of a call that was executed executes nothing else', { needs }, async (t) => {
      const { call: executed } = await expectTwin(t)
      await expectNotExecuted(t, {
        of: 'relay.execute.bad-signature',
        what: 'the signature of a call that was executed',
        alter: (call) => ({ body: withTransaction(call.body, { signature: executed.signature }) }),
      })
    })

    // A target may remember what it has seen, in place of what it has found to be valid.
    check('a stranger’s signature executes nothing when it is sent again', { needs }, async (t) => {
      await t.once('relay.execute.bad-signature twin', expectTwin)
      let first: { readonly body: unknown; readonly otherKeys: readonly string[] } | undefined
      for (const what of ['a stranger’s signature', 'a stranger’s signature, sent again']) {
        await expectNotExecuted(t, {
          of: 'relay.execute.bad-signature',
          what,
          alter(call) {
            const signature = signDigest(strangerAccount(), relayDigest(call.message))
            return (first ??= { body: withTransaction(call.body, { signature }), otherKeys: [call.key] })
          },
        })
      }
    })

    // A target may refuse a call and send it nevertheless: before the next valid call, or some time later.
    check('none of these signatures executes a call later on', { needs, looksBack: true }, async (t) => {
      await expectTwin(t)
      await lookAgain(t, 'relay.execute.bad-signature')
    })
  }),

  clause('relay.execute.permission', (check) => {
    const needs = ['chain', 'fixture', 'spend'] as const

    check('a controller without EXECUTE_RELAY_CALL', { needs }, async (t) => {
      const options = { controller: t.fixture.controllers.noRelay }
      await expectTwin(t)
      // The key managers of LSP6 before contracts 0.12 know no such permission.
      await requireRefusedByChain(t, await freshCall(t, options))
      const { answer, receipt } = await expectNotExecuted(t, {
        of: 'relay.execute.permission',
        what: 'a controller without EXECUTE_RELAY_CALL',
        options,
        alter: ({ body }) => ({ body }),
      })
      expect(receipt?.transactionHash, 'the transaction that the target spent on the call')
        .shownBy(answer)
        .to.equal(undefined)
    })

    check('the call is not executed later on', { needs, looksBack: true }, (t) =>
      lookAgain(t, 'relay.execute.permission'),
    )
  }),
]
