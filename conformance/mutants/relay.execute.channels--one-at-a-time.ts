import { defineMutant, respond } from './define.ts'
import { wholeTransaction } from './lib/relay.ts'

export default defineMutant({
  clause: 'relay.execute.channels',
  fault: 'a controller may use one channel only',
  async execute(request, forward, { memory }) {
    const transaction = wholeTransaction(request)
    if (!transaction) return forward(request)
    const channel = transaction.nonce >> 128n
    const current = (memory.get('channel') ?? channel) as bigint
    memory.set('channel', current)
    return current === channel ? forward(request) : respond(409, { message: 'another channel is in use' })
  },
})
