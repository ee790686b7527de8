import { clause } from '../../lib/clause.ts'
import { Fault } from '../../lib/outcome.ts'
import { freshCall } from '../../lib/relay/first-execution.ts'
import { expectNotExecuted } from '../../lib/relay/not-executed.ts'
import { expectTwinExecuted } from '../../lib/relay/twin.ts'

export default [
  clause('relay.execute.permission', (check) => {
    check('a controller without EXECUTE_RELAY_CALL', { needs: ['chain', 'fixture', 'spend'] }, async (t) => {
      await expectTwinExecuted(t, await freshCall(t))
      const call = await freshCall(t, { controller: t.fixture.controllers.noRelay })
      const forbidden = { body: call.body, keys: [call.key], what: 'a controller without EXECUTE_RELAY_CALL' }
      const { receipt } = await expectNotExecuted(t, forbidden, await freshCall(t))
      if (receipt)
        throw new Fault('a transaction was spent on it', { expected: 'none', actual: receipt.transactionHash })
    })
  }),
]
