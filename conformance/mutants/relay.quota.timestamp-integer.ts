import { defineMutant, withJson } from './define.ts'
import { bodyOf } from './lib/relay.ts'

export default defineMutant({
  clause: 'relay.quota.timestamp-integer',
  fault: 'a string, or an array that holds a number, is made a number',
  quota(request, forward) {
    const body = bodyOf(request)
    const { timestamp } = body
    const isOther = typeof timestamp === 'string' || Array.isArray(timestamp)
    return forward(isOther ? withJson(request, { ...body, timestamp: Number(timestamp) }) : request)
  },
})
