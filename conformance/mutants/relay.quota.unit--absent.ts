import { defineMutant } from './define.ts'
import { alterAnswer } from './lib/relay.ts'

export default defineMutant({
  clause: 'relay.quota.unit',
  fault: 'unit is left out',
  quota: alterAnswer('quota', (answer) => ({ ...answer, unit: undefined })),
})
