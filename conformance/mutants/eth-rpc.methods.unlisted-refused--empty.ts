import { defineMutant, mapResponses } from './define.ts'

export default defineMutant({
  clause: 'eth-rpc.methods.unlisted-refused',
  fault: 'an unknown method has an empty result instead of an error',
  rpc: async (request, forward) =>
    mapResponses(await forward(request), (answer) =>
      (answer['error'] as { code?: unknown } | undefined)?.code === -32601
        ? { jsonrpc: '2.0', id: answer['id'], result: {} }
        : answer,
    ),
})
