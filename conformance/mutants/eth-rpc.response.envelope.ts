import { defineMutant, mapResponses } from './define.ts'

export default defineMutant({
  clause: 'eth-rpc.response.envelope',
  fault: 'jsonrpc is left out of the response',
  rpc: async (request, forward) => mapResponses(await forward(request), ({ jsonrpc: _left, ...answer }) => answer),
})
