import { defineMutant } from './define.ts'
import { isQuotaSignedBy, nowSeconds, validQuota } from './lib/quota.ts'
import { bodyOf } from './lib/relay.ts'

export default defineMutant({
  clause: 'relay.quota.timestamp-seconds',
  fault: 'milliseconds are taken as well',
  quota(request, forward, tools) {
    const seconds = Number(bodyOf(request)['timestamp']) / 1000
    const isFresh = Math.abs(seconds - nowSeconds()) <= 5
    const takeOver = isFresh && isQuotaSignedBy(tools.fixture.controllers.full, request)
    return forward(takeOver ? validQuota(request, tools) : request)
  },
})
