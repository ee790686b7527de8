import { defineMutant, respond } from './define.ts'
import { otherHash } from './lib/relay.ts'

export default defineMutant({
  clause: 'relay.execute.repeat',
  fault: 'a repeated request is answered with a new hash',
  async execute(request, forward, { memory }) {
    const isRepeated = memory.has(request.text)
    memory.set(request.text, true)
    const response = await forward(request)
    const { transactionHash } = (response.json ?? {}) as Record<string, unknown>
    return isRepeated && transactionHash ? respond(200, { transactionHash: otherHash(transactionHash) }) : response
  },
})
