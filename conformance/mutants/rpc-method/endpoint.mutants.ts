import { defineMutant, respond } from '../../altered/define.ts'

export default [
  defineMutant({
    clause: 'eth-rpc.endpoint.post',
    fault: 'a served request is answered with 201 instead of 200',
    rpc: async (request, forward) => {
      const response = await forward(request)
      return response.status === 200 ? { ...response, status: 201 } : response
    },
  }),

  defineMutant({
    clause: 'eth-rpc.endpoint.standard-format',
    fault: 'a content type that names its charset is refused',
    rpc: async (request, forward) =>
      request.headers['content-type']?.includes('charset')
        ? respond(415, { error: 'application/json is expected' })
        : forward(request),
  }),
]
