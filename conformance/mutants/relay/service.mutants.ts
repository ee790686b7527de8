import { holds, later } from '../../altered/lib/when.ts'
import { defineMutant, respond } from '../../altered/define.ts'

/** Who asks for a token says so. */
const challenge = { 'www-authenticate': 'Bearer' }

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

  defineMutant({
    clause: 'relay.auth.no-other-credential',
    name: 'execute-later',
    fault: 'after five calls POST /execute asks for a token as well',
    whole: true,
    execute: later(5, holds('transactionHash'), () => respond(401, { message: 'Missing token' }, challenge)),
  }),

  defineMutant({
    clause: 'relay.auth.no-other-credential',
    name: 'quota-later',
    fault: 'after five answers POST /quota asks for a token as well',
    whole: true,
    quota: later(5, holds('quota'), () => respond(401, { message: 'Missing token' }, challenge)),
  }),
]
