import { defineMutant } from './define.ts'
import { isSignedByFull, resigned, wholeTransaction } from './lib/relay.ts'

export default defineMutant({
  clause: 'relay.execute.bad-signature',
  fault: 'a call with a wrong signature is refused, and executed before the next valid one',
  async execute(request, forward, tools) {
    const transaction = wholeTransaction(request)
    if (!transaction) return forward(request)
    if (!isSignedByFull(tools, transaction)) {
      tools.memory.set('refused', resigned(request, tools, transaction.abi))
      return forward(request)
    }
    const refused = tools.memory.get('refused') as typeof request | undefined
    tools.memory.clear()
    if (refused) await forward(refused)
    return forward(request)
  },
})
