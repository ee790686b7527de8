import { defineMutant, respond } from '../../altered/define.ts'
import { nowSeconds, validQuota } from '../../altered/lib/quota.ts'
import { requestObject } from '../../altered/lib/relay.ts'
import { signQuota } from '../../lib/relay/message.ts'

export default [
  defineMutant({
    clause: 'relay.quota.hash',
    fault: 'the hash is signed as it is, without the prefix of a personal message',
    async quota(request, forward, tools) {
      const { address, timestamp, signature } = requestObject(request)
      const { full } = tools.fixture.controllers
      if (typeof address !== 'string' || !Number.isInteger(timestamp)) return forward(request)
      const expected = signQuota({ address, timestamp: timestamp as number }, full, 'raw digest')
      const isFresh = Math.abs(nowSeconds() - (timestamp as number)) <= 5
      return signature === expected && isFresh
        ? forward(validQuota(request, tools))
        : respond(401, { message: 'Invalid signature' })
    },
  }),
]
