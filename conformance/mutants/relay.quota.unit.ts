import { defineMutant } from './define.ts'
import { alterAnswer } from './lib/relay.ts'

export default defineMutant({
  clause: 'relay.quota.unit',
  fault: 'unit is none of the three',
  quota: alterAnswer('quota', (answer) => ({ ...answer, unit: 'wei' })),
})
