import { defineMutant } from '../../altered/define.ts'
import { validQuota } from '../../altered/lib/quota.ts'
import { requestObject } from '../../altered/lib/relay.ts'

export default [
  defineMutant({
    clause: 'relay.quota.requires-address',
    fault: 'a missing address is that of the only profile',
    quota(request, forward, tools) {
      const { timestamp, signature, address } = requestObject(request)
      const isMissing = address === undefined && timestamp !== undefined && signature !== undefined
      return forward(isMissing ? validQuota(request, tools) : request)
    },
  }),

  defineMutant({
    clause: 'relay.quota.requires-timestamp',
    fault: 'a missing timestamp is now',
    quota(request, forward, tools) {
      const { address, signature, timestamp } = requestObject(request)
      const isMissing = timestamp === undefined && address !== undefined && signature !== undefined
      return forward(isMissing ? validQuota(request, tools) : request)
    },
  }),

  defineMutant({
    clause: 'relay.quota.requires-signature',
    fault: 'a request without a signature is trusted',
    quota(request, forward, tools) {
      const { address, timestamp, signature } = requestObject(request)
      const isMissing = signature === undefined && address !== undefined && timestamp !== undefined
      return forward(isMissing ? validQuota(request, tools) : request)
    },
  }),
]
