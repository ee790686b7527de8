import { defineMutant } from './define.ts'
import { validQuota } from './lib/quota.ts'
import { bodyOf } from './lib/relay.ts'

export default defineMutant({
  clause: 'relay.quota.requires-timestamp',
  fault: 'a missing timestamp is now',
  quota(request, forward, tools) {
    const { address, signature, timestamp } = bodyOf(request)
    const isMissing = timestamp === undefined && address !== undefined && signature !== undefined
    return forward(isMissing ? validQuota(request, tools) : request)
  },
})
