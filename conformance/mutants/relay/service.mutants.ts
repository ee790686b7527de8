import { defineMutant, respond } from '../../altered/define.ts'
import { holds, later } from '../../altered/lib/answers.ts'

const isTaken = holds('transactionHash')

/** The header by which a server asks for a token. */
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
    async execute(request, forward, { memory }) {
      const taken = Number(memory.get('taken') ?? 0)
      if (taken >= 5) return respond(401, { message: 'Missing token' }, challenge)
      const response = await forward(request)
      if (isTaken(response)) memory.set('taken', taken + 1)
      return response
    },
  }),

  defineMutant({
    clause: 'relay.auth.no-other-credential',
    name: 'quota-later',
    fault: 'after five answers POST /quota asks for a token as well',
    whole: true,
    quota: later(5, holds('quota'), () => respond(401, { message: 'Missing token' }, challenge)),
  }),
]
