import { defineMutant, respond } from './define.ts'

export default defineMutant({
  clause: 'relay.execute.post',
  fault: 'calls are queued and never executed',
  execute: async () => respond(202, { status: 'queued' }),
})
