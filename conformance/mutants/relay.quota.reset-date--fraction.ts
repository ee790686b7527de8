import { defineMutant } from './define.ts'
import { alterAnswer } from './lib/relay.ts'

export default defineMutant({
  clause: 'relay.quota.reset-date',
  fault: 'resetDate is a fraction',
  quota: alterAnswer('quota', (answer) => ({ ...answer, resetDate: Number(answer['resetDate']) + 0.5 })),
})
