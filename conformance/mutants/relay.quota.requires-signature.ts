import { defineMutant } from './define.ts'
import { validQuota } from './lib/quota.ts'
import { bodyOf } from './lib/relay.ts'

export default defineMutant({
  clause: 'relay.quota.requires-signature',
  fault: 'a request without a signature is trusted',
  quota(request, forward, tools) {
    const { address, timestamp, signature } = bodyOf(request)
    const isMissing = signature === undefined && address !== undefined && timestamp !== undefined
    return forward(isMissing ? validQuota(request, tools) : request)
  },
})
