import type { ClauseId } from '../../../specs/index.ts'
import { clause } from '../../lib/clause.ts'
import type { CheckContext } from '../../lib/context.ts'
import { signCall, withTransaction, type RelayCall } from '../../lib/relay/call.ts'
import { execute, executeTwin } from '../../lib/relay/execute.ts'
import { channelZeroNonce, twinInChannelZero, freshCalls } from '../../lib/relay/first-execution.ts'
import { expectNoHash } from '../../lib/relay/no-hash.ts'

const needs = ['fixture', 'spend'] as const

/** Sends a valid call, then its successor without one of the fields. */
async function expectRequired(t: CheckContext, field: string, without: (call: RelayCall) => unknown): Promise<void> {
  const [twin, call] = await freshCalls(t, 2)
  if (!twin || !call) return
  await executeTwin(t, twin)
  expectNoHash(t, await execute(t, without(call)), `a body without ${field}`)
}

function requires(id: ClauseId, field: string, without: (call: RelayCall) => unknown) {
  return clause(id, (check) => {
    check(`without ${field} there is no transactionHash`, { needs }, (t) => expectRequired(t, field, without))
  })
}

export default [
  requires('relay.execute.requires-address', 'address', ({ body }) => ({ transaction: body.transaction })),
  requires('relay.execute.requires-transaction', 'transaction', ({ body }) => ({ address: body.address })),
  requires('relay.execute.requires-abi', 'transaction.abi', ({ body }) => withTransaction(body, { abi: undefined })),
  requires('relay.execute.requires-signature', 'transaction.signature', ({ body }) =>
    withTransaction(body, { signature: undefined }),
  ),

  clause('relay.execute.requires-nonce', (check) => {
    // In channel 0, so that a target that makes up for the missing nonce with the chain's would have it right.
    check('without transaction.nonce there is no transactionHash', { needs: ['chain', ...needs] }, async (t) => {
      await twinInChannelZero(t)
      const call = signCall(t, { nonce: await channelZeroNonce(t) })
      expectNoHash(
        t,
        await execute(t, withTransaction(call.body, { nonce: undefined })),
        'a body without transaction.nonce',
      )
    })
  }),
]
