import { defineMutant } from './define.ts'
import { isQuotaSignedBy, validQuota } from './lib/quota.ts'
import { bodyOf } from './lib/relay.ts'

export default defineMutant({
  clause: 'relay.quota.bound-to-message',
  fault: 'a signature over the second before is taken',
  quota(request, forward, tools) {
    const before = Number(bodyOf(request)['timestamp']) - 1
    return forward(
      isQuotaSignedBy(tools.fixture.controllers.full, request, before) ? validQuota(request, tools) : request,
    )
  },
})
