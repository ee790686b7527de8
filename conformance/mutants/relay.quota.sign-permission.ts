import { defineMutant } from './define.ts'
import { isQuotaSignedBy, validQuota } from './lib/quota.ts'

export default defineMutant({
  clause: 'relay.quota.sign-permission',
  fault: 'any controller is served, with SIGN or without',
  quota: (request, forward, tools) =>
    forward(isQuotaSignedBy(tools.fixture.controllers.noSign, request) ? validQuota(request, tools) : request),
})
