import { setTimeout as delay } from 'node:timers/promises'
import { defineMutant, respond } from './define.ts'
import { wholeTransaction } from './lib/relay.ts'

export default defineMutant({
  clause: 'relay.execute.channel-order',
  fault: 'a call is refused while the one before is not done',
  async execute(request, forward, { memory }) {
    if (!wholeTransaction(request)) return forward(request)
    if (memory.get('busy')) return respond(409, { message: 'try again later' })
    memory.set('busy', true)
    await delay(200)
    const response = await forward(request)
    memory.delete('busy')
    return response
  },
})
