import { defineMutant } from './define.ts'
import { alterAnswer } from './lib/relay.ts'

export default defineMutant({
  clause: 'relay.quota.quota-number',
  fault: 'quota is a string',
  quota: alterAnswer('quota', (answer) => ({ ...answer, quota: String(answer['quota']) })),
})
