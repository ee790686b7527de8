import { defineMutant } from '../../altered/define.ts'
import { isQuotaSignedBy, nowSeconds, quotaSigner, validQuota } from '../../altered/lib/quota.ts'
import { bodyOf } from '../../altered/lib/relay.ts'

export default [
  defineMutant({
    clause: 'relay.quota.sign-permission',
    fault: 'any controller is served, with SIGN or without',
    quota: (request, forward, tools) =>
      forward(isQuotaSignedBy(tools.fixture.controllers.noSign, request) ? validQuota(request, tools) : request),
  }),

  defineMutant({
    clause: 'relay.quota.sign-permission',
    name: 'stranger',
    fault: 'anyone who signs is served, except for controllers without SIGN',
    quota(request, forward, tools) {
      const { address, timestamp } = bodyOf(request)
      const { controllers, profile } = tools.fixture
      const signer = quotaSigner(request, timestamp)
      const isStranger =
        signer !== undefined && !Object.values(controllers).some((one) => one.address.toLowerCase() === signer)
      return forward(isStranger && address === profile.address ? validQuota(request, tools) : request)
    },
  }),

  defineMutant({
    clause: 'relay.quota.bound-to-message',
    fault: 'a signature over the second before is taken',
    quota(request, forward, tools) {
      const before = Number(bodyOf(request)['timestamp']) - 1
      return forward(
        isQuotaSignedBy(tools.fixture.controllers.full, request, before) ? validQuota(request, tools) : request,
      )
    },
  }),

  defineMutant({
    clause: 'relay.quota.bound-to-message',
    name: 'unread',
    fault: 'the signature is not looked at',
    quota(request, forward, tools) {
      const { address, timestamp, signature } = bodyOf(request)
      const isFresh = typeof timestamp === 'number' && Math.abs(nowSeconds() - timestamp) <= 5
      const isWhole = address === tools.fixture.profile.address && typeof signature === 'string'
      return forward(isFresh && isWhole ? validQuota(request, tools) : request)
    },
  }),
]
