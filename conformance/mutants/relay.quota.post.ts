import { defineMutant, respond } from './define.ts'

export default defineMutant({
  clause: 'relay.quota.post',
  fault: 'POST /quota is not there',
  quota: async () => respond(404, { message: 'Not Found' }),
})
