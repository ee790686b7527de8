import { defineMutant } from './define.ts'
import { isSignedByFull, resigned, wholeTransaction } from './lib/relay.ts'

export default defineMutant({
  clause: 'relay.execute.validity-timestamps',
  fault: 'a call whose window is over is executed nevertheless',
  execute(request, forward, tools) {
    const transaction = wholeTransaction(request)
    if (!transaction || !isSignedByFull(tools, transaction)) return forward(request)
    const end = transaction.validityTimestamps & (2n ** 128n - 1n)
    const isOver = end !== 0n && end < BigInt(Math.floor(Date.now() / 1000))
    return forward(isOver ? resigned(request, tools, transaction.abi) : request)
  },
})
