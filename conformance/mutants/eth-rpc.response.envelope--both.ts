import { defineMutant, mapResponses } from './define.ts'

export default defineMutant({
  clause: 'eth-rpc.response.envelope',
  fault: 'every response has both result and error, one of them null',
  rpc: async (request, forward) =>
    mapResponses(await forward(request), (answer) => ({ result: null, error: null, ...answer })),
})
