import { defineLawful, respond } from '../../altered/define.ts'
import { quotaSigner } from '../../altered/lib/quota.ts'
import { requestObject } from '../../altered/lib/relay.ts'

export default [
  defineLawful({
    id: 'takes-a-signed-quota-message-once',
    clauses: ['relay.quota.window', 'relay.quota.post', 'relay.quota.sign-permission'],
    allowedBy: 'relay 5: whether a signed message may be used again is not shown',
    async quota(request, forward, { memory }) {
      const { signature, timestamp } = requestObject(request)
      const key = JSON.stringify([signature, timestamp])
      if (memory.has(key)) return respond(401, { message: 'this message was used before' })
      const response = await forward(request)
      if (response.status === 200) memory.set(key, true)
      return response
    },
  }),

  defineLawful({
    id: 'takes-timestamps-in-ascending-order',
    clauses: ['relay.quota.window', 'relay.quota.post', 'relay.quota.timestamp-integer'],
    // Debatable: a message that is older than one already served is refused, as a protection against replays.
    allowedBy: 'relay 5: whether messages may come out of order is not shown',
    // After a younger message, an older one cannot be asked for.
    untestable: ['relay.quota.window'],
    async quota(request, forward, { memory }) {
      const { timestamp } = requestObject(request)
      const last = Number(memory.get('last') ?? 0)
      if (typeof timestamp === 'number' && timestamp < last) return respond(401, { message: 'older than the last one' })
      const response = await forward(request)
      if (response.status === 200) memory.set('last', timestamp)
      return response
    },
  }),

  defineLawful({
    id: 'hides-which-profiles-it-knows',
    clauses: ['relay.quota.sign-permission', 'relay.quota.bound-to-message'],
    allowedBy: 'relay 7: how a signer without the permission is answered is not shown',
    async quota(request, forward, { fixture }) {
      const signer = quotaSigner(request, requestObject(request)['timestamp'])
      const { full, noRelay } = fixture.controllers
      const mayAsk = [full, noRelay].some(({ address }) => signer === address.toLowerCase())
      return mayAsk ? forward(request) : respond(404, { message: 'no such profile' })
    },
  }),
]
