import { defineMutant, mapResponses } from './define.ts'

export default defineMutant({
  clause: 'eth-rpc.response.error-codes',
  fault: 'every error has the code -32000',
  rpc: async (request, forward) =>
    mapResponses(await forward(request), (answer) =>
      'error' in answer ? { ...answer, error: { ...(answer['error'] as object), code: -32000 } } : answer,
    ),
})
