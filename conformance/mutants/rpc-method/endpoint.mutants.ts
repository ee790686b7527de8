import { defineMutant, mapResponses, respond } from '../../altered/define.ts'
import { filterOf, refuse } from '../../altered/lib/rpc.ts'
import { mixedUp, nowAndThen } from '../../altered/lib/answers.ts'

export default [
  defineMutant({
    clause: 'eth-rpc.endpoint.post',
    fault: 'a served request is answered with 500 instead of 200',
    rpc: async (request, forward) => {
      const response = await forward(request)
      return response.status === 200 ? { ...response, status: 500 } : response
    },
  }),

  defineMutant({
    clause: 'eth-rpc.endpoint.post',
    name: 'now-and-then',
    fault: 'each tenth request is answered with 500',
    whole: true,
    rpc: nowAndThen(
      10,
      ({ status }) => status === 200,
      () => respond(500, { error: 'oops' }),
    ),
  }),

  defineMutant({
    clause: 'eth-rpc.endpoint.post',
    name: 'errs-now-and-then',
    fault: 'each tenth request is answered with an internal error in 200',
    whole: true,
    rpc: nowAndThen(
      10,
      ({ json }) => typeof json === 'object' && json !== null && 'result' in json,
      ({ json }) =>
        respond(200, { jsonrpc: '2.0', id: (json as { id?: unknown }).id, error: { code: -32603, message: 'oops' } }),
    ),
  }),

  defineMutant({
    clause: 'eth-rpc.endpoint.standard-format',
    fault: 'the envelope must begin with jsonrpc',
    rpc: async (request, forward) =>
      /^\s*(\[|\{\s*"jsonrpc")/.test(request.text) ? forward(request) : respond(400, { error: 'bad request' }),
  }),

  defineMutant({
    clause: 'eth-rpc.endpoint.standard-format',
    name: 'white-space',
    fault: 'white space between members is refused',
    rpc: async (request, forward) =>
      request.text.includes('\n') ? respond(400, { error: 'bad request' }) : forward(request),
  }),

  defineMutant({
    clause: 'eth-rpc.clients',
    fault: 'a request without params is refused',
    rpc: refuse(-32602, ({ params }) => params === undefined),
  }),

  defineMutant({
    clause: 'eth-rpc.clients',
    name: 'empty-topics',
    fault: 'an empty list of topics is refused',
    rpc: refuse(-32602, (body) => {
      const topics = filterOf(body)?.['topics']
      return Array.isArray(topics) && topics.length === 0
    }),
  }),

  defineMutant({
    clause: 'eth-rpc.endpoint.post',
    name: 'mixed-up',
    fault: 'of requests that come at once each gets the result of the last',
    rpc: mixedUp((response, { result }) => mapResponses(response, (answer) => ({ ...answer, result })), 'result'),
  }),
]
