import { defineMutant } from './define.ts'
import { alterAnswer } from './lib/relay.ts'

export default defineMutant({
  clause: 'relay.quota.unit',
  fault: 'unit is written in capitals',
  quota: alterAnswer('quota', (answer) => ({ ...answer, unit: String(answer['unit']).toUpperCase() })),
})
