import { defineMutant } from './define.ts'
import { alterAnswer } from './lib/relay.ts'

export default defineMutant({
  clause: 'relay.quota.total-is-available-plus-used',
  fault: 'totalQuota falls with quota',
  quota: alterAnswer('quota', (answer) => ({ ...answer, totalQuota: answer['quota'] })),
})
