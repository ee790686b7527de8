import { defineMutant } from './define.ts'
import { quotaSigner, validQuota } from './lib/quota.ts'
import { bodyOf } from './lib/relay.ts'

export default defineMutant({
  clause: 'relay.quota.sign-permission',
  fault: 'anyone who signs is served, except for controllers without SIGN',
  quota(request, forward, tools) {
    const { address, timestamp } = bodyOf(request)
    const { controllers, profile } = tools.fixture
    const signer = quotaSigner(request, timestamp)
    const isStranger =
      signer !== undefined && !Object.values(controllers).some((one) => one.address.toLowerCase() === signer)
    return forward(isStranger && address === profile.address ? validQuota(request, tools) : request)
  },
})
