import { defineMutant, respond } from '../../altered/define.ts'

export default [
  defineMutant({
    clause: 'eth-rpc.batch',
    fault: 'a batch is answered by its first response alone',
    rpc: async (request, forward) => {
      const response = await forward(request)
      return Array.isArray(response.json) ? respond(response.status, response.json[0]) : response
    },
  }),

  defineMutant({
    clause: 'eth-rpc.batch',
    name: 'empty',
    fault: 'an empty batch is answered by an empty array',
    rpc: (request, forward) =>
      Array.isArray(request.json) && request.json.length === 0 ? Promise.resolve(respond(200, [])) : forward(request),
  }),
]
