import { defineMutant } from './define.ts'
import { alterAnswer } from './lib/relay.ts'

export default defineMutant({
  clause: 'relay.quota.reset-date',
  fault: 'resetDate is a date in ISO 8601',
  quota: alterAnswer('quota', (answer) => ({
    ...answer,
    resetDate: new Date(Number(answer['resetDate']) * 1000).toISOString(),
  })),
})
