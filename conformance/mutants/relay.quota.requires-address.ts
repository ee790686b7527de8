import { defineMutant } from './define.ts'
import { validQuota } from './lib/quota.ts'
import { bodyOf } from './lib/relay.ts'

export default defineMutant({
  clause: 'relay.quota.requires-address',
  fault: 'a missing address is that of the only profile',
  quota(request, forward, tools) {
    const { timestamp, signature, address } = bodyOf(request)
    const isMissing = address === undefined && timestamp !== undefined && signature !== undefined
    return forward(isMissing ? validQuota(request, tools) : request)
  },
})
