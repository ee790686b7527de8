import { defineMutant, respond } from '../../altered/define.ts'

export default [
  defineMutant({
    clause: 'relay.auth.no-other-credential',
    fault: 'POST /quota asks for a token as well',
    quota: async (request, forward) =>
      request.headers['authorization'] ? forward(request) : respond(401, { message: 'Missing token' }),
  }),

  defineMutant({
    clause: 'relay.auth.no-other-credential',
    name: 'execute',
    fault: 'POST /execute asks for a token as well',
    execute: async (request, forward) =>
      request.headers['authorization'] ? forward(request) : respond(401, { message: 'Missing token' }),
  }),
]
