import { defineMutant, respond } from './define.ts'

export default defineMutant({
  clause: 'eth-rpc.batch',
  fault: 'an empty batch is answered by an empty array',
  rpc: (request, forward) =>
    Array.isArray(request.json) && request.json.length === 0 ? Promise.resolve(respond(200, [])) : forward(request),
})
