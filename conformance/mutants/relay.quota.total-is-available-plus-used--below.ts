import { defineMutant } from './define.ts'
import { alterAnswer } from './lib/relay.ts'

export default defineMutant({
  clause: 'relay.quota.total-is-available-plus-used',
  fault: 'totalQuota is below quota',
  quota: alterAnswer('quota', (answer) => ({ ...answer, totalQuota: Number(answer['quota']) - 1 })),
})
