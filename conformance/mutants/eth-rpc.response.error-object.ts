import { defineMutant, mapResponses } from './define.ts'

export default defineMutant({
  clause: 'eth-rpc.response.error-object',
  fault: 'the error is a string',
  rpc: async (request, forward) =>
    mapResponses(await forward(request), (answer) =>
      'error' in answer ? { ...answer, error: (answer['error'] as { message: string }).message } : answer,
    ),
})
