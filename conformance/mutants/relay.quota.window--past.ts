import { defineMutant, respond } from './define.ts'
import { isQuotaSignedBy, nowSeconds, validQuota } from './lib/quota.ts'
import { bodyOf } from './lib/relay.ts'

export default defineMutant({
  clause: 'relay.quota.window',
  fault: 'a timestamp may lie as far ahead as it likes',
  async quota(request, forward, tools) {
    if (!isQuotaSignedBy(tools.fixture.controllers.full, request)) return forward(request)
    const ahead = Number(bodyOf(request)['timestamp']) - nowSeconds()
    return ahead >= -5 ? forward(validQuota(request, tools)) : respond(401, { message: 'Stale timestamp' })
  },
})
