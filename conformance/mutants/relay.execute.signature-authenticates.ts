import { defineMutant, respond } from './define.ts'

export default defineMutant({
  clause: 'relay.execute.signature-authenticates',
  fault: 'POST /execute asks for a token as well',
  execute: async (request, forward) =>
    request.headers['authorization'] ? forward(request) : respond(401, { message: 'Missing token' }),
})
