import { defineMutant } from './define.ts'
import { nowSeconds, validQuota } from './lib/quota.ts'
import { bodyOf } from './lib/relay.ts'

export default defineMutant({
  clause: 'relay.quota.bound-to-message',
  fault: 'the signature is not looked at',
  quota(request, forward, tools) {
    const { address, timestamp, signature } = bodyOf(request)
    const isFresh = typeof timestamp === 'number' && Math.abs(nowSeconds() - timestamp) <= 5
    const isWhole = address === tools.fixture.profile.address && typeof signature === 'string'
    return forward(isFresh && isWhole ? validQuota(request, tools) : request)
  },
})
