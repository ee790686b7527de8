import { hexlify, randomBytes, Wallet } from 'ethers'
import { clause } from '../../lib/clause.ts'
import type { CheckContext } from '../../lib/context.ts'
import { Untestable } from '../../lib/outcome.ts'
import { signCall, withTransaction, type RelayCall } from '../../lib/relay/call.ts'
import { freshCall } from '../../lib/relay/first-execution.ts'
import { relayDigest, signDigest, type RelayMessage } from '../../lib/relay/message.ts'
import { expectNotExecuted, expectNoTrace, type Forbidden } from '../../lib/relay/not-executed.ts'
import { expectTwinExecuted } from '../../lib/relay/twin.ts'

const needs = ['chain', 'fixture', 'spend'] as const

/** A signature that the controller made over another message. */
function over(call: RelayCall, change: Partial<RelayMessage>): string {
  return signDigest(call.controller.privateKey, relayDigest({ ...call.message, ...change }))
}

/** Sends the call with a signature that is not its own. */
async function expectRefused(
  t: CheckContext,
  what: string,
  falsify: (call: RelayCall) => { readonly signature: string; readonly otherKey?: string },
): Promise<void> {
  await t.once('relay.execute.bad-signature twin', async (once) => expectTwinExecuted(once, await freshCall(once)))
  const call = await freshCall(t)
  const { signature, otherKey } = falsify(call)
  const forbidden = {
    body: withTransaction(call.body, { signature }),
    keys: otherKey === undefined ? [call.key] : [call.key, otherKey],
    what,
  }
  ;(await sent(t)).push(forbidden)
  await expectNotExecuted(t, forbidden)
}

/** What this run has sent with a wrong signature. */
function sent(t: CheckContext): Promise<Omit<Forbidden, 'body'>[]> {
  return t.once('relay.execute.bad-signature sent', async () => [])
}

export default [
  clause('relay.execute.bad-signature', (check) => {
    check('a stranger’s signature executes nothing', { needs }, async (t) => {
      const { privateKey } = Wallet.createRandom()
      await expectRefused(t, 'a stranger’s signature', ({ message }) => ({
        signature: signDigest(privateKey, relayDigest(message)),
      }))
    })

    check('a signature over another payload executes nothing', { needs }, async (t) => {
      await expectRefused(t, 'a signature over another payload', (call) => {
        const other = signCall(t, { nonce: call.message.nonce })
        return { signature: other.signature, otherKey: other.key }
      })
    })

    check('a signature over another nonce executes nothing', { needs }, async (t) => {
      await expectRefused(t, 'a signature over another nonce', (call) => ({
        signature: over(call, { nonce: call.message.nonce + 1n }),
      }))
    })

    check('a signature for another key manager executes nothing', { needs }, async (t) => {
      await expectRefused(t, 'a signature for another key manager', (call) => ({
        signature: over(call, { keyManager: hexlify(randomBytes(20)) }),
      }))
    })

    check('a signature for another chain executes nothing', { needs }, async (t) => {
      await expectRefused(t, 'a signature for another chain', (call) => ({
        signature: over(call, { chainId: call.message.chainId + 1n }),
      }))
    })

    check('a truncated signature executes nothing', { needs }, async (t) => {
      await expectRefused(t, 'a truncated signature', ({ signature }) => ({ signature: signature.slice(0, -8) }))
    })

    check('a signature of zeros executes nothing', { needs }, async (t) => {
      await expectRefused(t, 'a signature of zeros', () => ({ signature: `0x${'00'.repeat(65)}` }))
    })

    // A target may refuse and send nevertheless: when a later call is on the chain, all of that would be as well.
    check('and none of them later on', { needs }, async (t) => {
      const all = await sent(t)
      if (all.length === 0) throw new Untestable('none of them could be sent')
      await expectTwinExecuted(t, await freshCall(t))
      for (const forbidden of all) await expectNoTrace(t, forbidden, 'executed after it was answered')
    })
  }),
]
