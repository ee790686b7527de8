import { defineMutant, respond } from './define.ts'

export default defineMutant({
  clause: 'eth-rpc.batch',
  fault: 'a batch is answered by its first response alone',
  rpc: async (request, forward) => {
    const response = await forward(request)
    return Array.isArray(response.json) ? respond(response.status, response.json[0]) : response
  },
})
