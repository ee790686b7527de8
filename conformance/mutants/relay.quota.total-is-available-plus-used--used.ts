import { defineMutant } from './define.ts'
import { alterAnswer } from './lib/relay.ts'

export default defineMutant({
  clause: 'relay.quota.total-is-available-plus-used',
  fault: 'quota is what was used',
  quota: alterAnswer('quota', (answer) => ({
    ...answer,
    quota: Number(answer['totalQuota']) - Number(answer['quota']),
  })),
})
