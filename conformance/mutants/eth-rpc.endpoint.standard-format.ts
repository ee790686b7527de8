import { defineMutant, respond } from './define.ts'

export default defineMutant({
  clause: 'eth-rpc.endpoint.standard-format',
  fault: 'a content type that names its charset is refused',
  rpc: async (request, forward) =>
    request.headers['content-type']?.includes('charset')
      ? respond(415, { error: 'application/json is expected' })
      : forward(request),
})
