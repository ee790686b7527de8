import { defineMutant, mapResponses } from '../../altered/define.ts'

export default [
  defineMutant({
    clause: 'eth-rpc.response.envelope',
    fault: 'jsonrpc is left out of the response',
    rpc: async (request, forward) => mapResponses(await forward(request), ({ jsonrpc: _left, ...answer }) => answer),
  }),

  defineMutant({
    clause: 'eth-rpc.response.envelope',
    name: 'both',
    fault: 'every response has both result and error, one of them null',
    rpc: async (request, forward) =>
      mapResponses(await forward(request), (answer) => ({ result: null, error: null, ...answer })),
  }),

  defineMutant({
    clause: 'eth-rpc.response.id-echo',
    fault: 'the id comes back as a string',
    rpc: async (request, forward) =>
      mapResponses(await forward(request), (answer) => ({ ...answer, id: String(answer['id']) })),
  }),

  defineMutant({
    clause: 'eth-rpc.response.error-object',
    fault: 'the error is a string',
    rpc: async (request, forward) =>
      mapResponses(await forward(request), (answer) =>
        'error' in answer ? { ...answer, error: (answer['error'] as { message: string }).message } : answer,
      ),
  }),

  defineMutant({
    clause: 'eth-rpc.response.error-codes',
    fault: 'every error has the code -32000',
    rpc: async (request, forward) =>
      mapResponses(await forward(request), (answer) =>
        'error' in answer ? { ...answer, error: { ...(answer['error'] as object), code: -32000 } } : answer,
      ),
  }),
]
