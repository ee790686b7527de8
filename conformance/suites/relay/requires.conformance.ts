import type { ClauseId } from '../../../specs/index.ts'
import { clause } from '../../lib/clause.ts'
import { inTurn } from '../../lib/relay/attempt.ts'
import { withTransaction, type RelayCall } from '../../lib/relay/call.ts'
import { expectTwin } from '../../lib/relay/first-execution.ts'
import { expectNotExecuted } from '../../lib/relay/not-executed.ts'

const needs = ['fixture', 'spend'] as const

/** Sends a valid call, then the next one without a field. The target must not take the field from the call before. */
function requires(id: ClauseId, field: string, without: (call: RelayCall) => unknown) {
  return clause(id, (check) => {
    check(`without ${field} there is no transactionHash`, { needs }, (t) =>
      inTurn(t, async () => {
        await expectTwin(t)
        const what = `a body without ${field}`
        await expectNotExecuted(t, { of: id, what, hasNoHash: true, alter: (call) => ({ body: without(call) }) })
      }),
    )
  })
}

export default [
  requires('relay.execute.requires-address', 'address', ({ body }) => ({ transaction: body.transaction })),
  requires('relay.execute.requires-transaction', 'transaction', ({ body }) => ({ address: body.address })),
  requires('relay.execute.requires-abi', 'transaction.abi', ({ body }) => withTransaction(body, { abi: undefined })),
  requires('relay.execute.requires-signature', 'transaction.signature', ({ body }) =>
    withTransaction(body, { signature: undefined }),
  ),
  // The nonce is of channel 0. A target that reads the missing nonce from the chain would then find the right one.
  requires('relay.execute.requires-nonce', 'transaction.nonce', ({ body }) =>
    withTransaction(body, { nonce: undefined }),
  ),
]
