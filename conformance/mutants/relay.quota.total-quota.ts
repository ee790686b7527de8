import { defineMutant } from './define.ts'
import { alterAnswer } from './lib/relay.ts'

export default defineMutant({
  clause: 'relay.quota.total-quota',
  fault: 'totalQuota is a string',
  quota: alterAnswer('quota', (answer) => ({ ...answer, totalQuota: String(answer['totalQuota']) })),
})
