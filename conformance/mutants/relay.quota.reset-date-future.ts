import { defineMutant } from './define.ts'
import { alterAnswer } from './lib/relay.ts'

export default defineMutant({
  clause: 'relay.quota.reset-date-future',
  fault: 'resetDate counts milliseconds',
  quota: alterAnswer('quota', (answer) => ({ ...answer, resetDate: Number(answer['resetDate']) * 1000 })),
})
