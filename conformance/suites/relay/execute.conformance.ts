import { describe, isSuccess } from '../../lib/answer.ts'
import { clause } from '../../lib/clause.ts'
import { Fault } from '../../lib/outcome.ts'
import { expectAccepted, hashIn, isHash } from '../../lib/relay/execute.ts'
import { expectEffect } from '../../lib/relay/executed.ts'
import { firstExecution } from '../../lib/relay/first-execution.ts'
import { isKnown } from '../../lib/relay/receipt.ts'
import { requireBlame } from '../../lib/relay/blame.ts'
import { expectRelayTransaction } from '../../lib/relay/relay-transaction.ts'
import { profileAbi } from '../../lib/relay/abi.ts'
import type { CheckContext } from '../../lib/context.ts'

/** What the first execution of the run came to on the chain. */
async function firstReceipt(t: CheckContext) {
  const { call, answer } = await firstExecution(t)
  const hash = await expectAccepted(t, answer)
  return { call, receipt: await expectEffect(t, call, hash) }
}

export default [
  clause('relay.execute.post', (check) => {
    check('takes a signed call and succeeds', async (t) => {
      const { answer } = await firstExecution(t)
      if (isSuccess(answer) && hashIn(answer) !== undefined) return
      await requireBlame(t, answer)
      throw new Fault('a valid call was not taken', {
        expected: 'a status of success and an object with transactionHash',
        actual: describe(answer),
      })
    })
  }),

  clause('relay.execute.response', (check) => {
    check('answers with transactionHash, a hex string of 32 bytes', async (t) => {
      const { answer } = await firstExecution(t)
      const hash = hashIn(answer)
      if (isHash(hash)) return
      await requireBlame(t, answer)
      throw new Fault('there is no hash of a transaction in the answer', {
        expected: '{ "transactionHash": "0x" and 64 hex digits }',
        actual: describe(answer),
      })
    })
  }),

  clause('relay.execute.hash-of-transaction', (check) => {
    check('the chain knows a transaction by that hash', async (t) => {
      const hash = await expectAccepted(t, (await firstExecution(t)).answer)
      if (await isKnown(t, hash)) return
      throw new Fault('the chain does not know a transaction by that hash', { expected: hash, actual: 'none' })
    })
  }),

  clause('relay.execute.execute-relay-call', (check) => {
    check('the transaction brings the signed call to the key manager', async (t) => {
      const { call, receipt } = await firstReceipt(t)
      await expectRelayTransaction(t, call, receipt)
    })
  }),

  clause('relay.execute.on-behalf', (check) => {
    check('the profile itself has done what the call says', async (t) => {
      const { call, receipt } = await firstReceipt(t)
      const topic = profileAbi.getEvent('DataChanged')?.topicHash
      const profile = t.fixture.profile.address.toLowerCase()
      const seen = receipt.logs.some(
        ({ address, topics }) => address.toLowerCase() === profile && topics[0] === topic && topics[1] === call.key,
      )
      if (!seen)
        throw new Fault('that transaction is not the one that changed the profile', {
          expected: 'DataChanged',
          actual: 'no such event',
        })
    })
  }),

  clause('relay.execute.signature-authenticates', (check) => {
    check('the signed message alone is enough', async (t) => {
      await expectAccepted(t, (await firstExecution(t)).answer)
    })
  }),
]
