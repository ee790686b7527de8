import { defineMutant, respond } from './define.ts'

export default defineMutant({
  clause: 'relay.execute.post',
  fault: 'POST /execute is not there',
  execute: async () => respond(404, { message: 'Not Found' }),
})
