import { defineMutant } from './define.ts'
import { validQuota } from './lib/quota.ts'
import { bodyOf } from './lib/relay.ts'

export default defineMutant({
  clause: 'relay.quota.timestamp-integer',
  fault: 'true means now',
  quota: (request, forward, tools) =>
    forward(bodyOf(request)['timestamp'] === true ? validQuota(request, tools) : request),
})
