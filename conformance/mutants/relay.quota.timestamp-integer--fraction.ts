import { defineMutant, withJson } from './define.ts'
import { bodyOf } from './lib/relay.ts'

export default defineMutant({
  clause: 'relay.quota.timestamp-integer',
  fault: 'a fraction is rounded down',
  quota(request, forward) {
    const body = bodyOf(request)
    const { timestamp } = body
    return forward(
      typeof timestamp === 'number' ? withJson(request, { ...body, timestamp: Math.floor(timestamp) }) : request,
    )
  },
})
