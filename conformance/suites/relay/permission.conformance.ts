import { clause } from '../../lib/clause.ts'
import { expect } from '../../lib/expect.ts'
import { expectTwin } from '../../lib/relay/first-execution.ts'
import { expectNotExecuted, lookAgain } from '../../lib/relay/not-executed.ts'

export default [
  clause('relay.execute.permission', (check) => {
    const needs = ['chain', 'fixture', 'spend'] as const

    check('a controller without EXECUTE_RELAY_CALL', { needs }, async (t) => {
      await expectTwin(t)
      const { answer, receipt } = await expectNotExecuted(t, {
        of: 'relay.execute.permission',
        what: 'a controller without EXECUTE_RELAY_CALL',
        options: { controller: t.fixture.controllers.noRelay },
        alter: ({ body }) => ({ body }),
      })
      expect(receipt?.transactionHash, 'the transaction that the target spent on the call')
        .shownBy(answer)
        .to.equal(undefined)
    })

    check('the call is not executed later on', { needs, isLast: true }, (t) => lookAgain(t, 'relay.execute.permission'))
  }),
]
