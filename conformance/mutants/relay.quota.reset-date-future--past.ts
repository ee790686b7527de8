import { defineMutant } from './define.ts'
import { alterAnswer } from './lib/relay.ts'

export default defineMutant({
  clause: 'relay.quota.reset-date-future',
  fault: 'resetDate is the last reset',
  quota: alterAnswer('quota', (answer) => ({ ...answer, resetDate: Number(answer['resetDate']) - 40 * 86_400 })),
})
