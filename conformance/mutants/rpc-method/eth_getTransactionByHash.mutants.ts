import { defineMutant, mapResponses } from '../../altered/define.ts'
import { alterResult, nullForBadParams } from '../../altered/lib/rpc.ts'

export default [
  defineMutant({
    clause: 'eth-rpc.eth_getTransactionByHash.success',
    fault: 'another sender',
    rpc: alterResult(
      'eth_getTransactionByHash',
      (found) => found && { ...(found as Record<string, unknown>), from: `0x${'11'.repeat(20)}` },
    ),
  }),

  defineMutant({
    clause: 'eth-rpc.eth_getTransactionByHash.success',
    name: 'other',
    fault: 'the first transaction that was asked for is given for every hash',
    rpc: async (request, forward, { memory }) => {
      const body = request.json as { method?: unknown; params?: unknown } | null
      if (body?.method !== 'eth_getTransactionByHash') return forward(request)
      const response = await forward(request)
      const { result } = (response.json ?? {}) as { result?: unknown }
      if (result && !memory.has('first')) memory.set('first', response)
      return result ? (memory.get('first') as typeof response) : response
    },
  }),

  defineMutant({
    clause: 'eth-rpc.eth_getTransactionByHash.unknown',
    fault: 'an error instead of null for an unknown hash',
    rpc: async (request, forward) => {
      const response = await forward(request)
      if ((request.json as { method?: unknown } | null)?.method !== 'eth_getTransactionByHash') return response
      return mapResponses(response, (answer) =>
        answer['result'] === null
          ? { jsonrpc: '2.0', id: answer['id'], error: { code: -32000, message: 'not found' } }
          : answer,
      )
    },
  }),

  defineMutant({
    clause: 'eth-rpc.eth_getTransactionByHash.result-schema',
    fault: 'the nonce is a JSON number',
    rpc: alterResult('eth_getTransactionByHash', (found) => {
      const transaction = found as Record<string, unknown> | null
      return transaction && { ...transaction, nonce: Number(transaction['nonce']) }
    }),
  }),

  defineMutant({
    clause: 'eth-rpc.eth_getTransactionByHash.bad-params',
    fault: 'null instead of an error for a malformed hash',
    rpc: nullForBadParams('eth_getTransactionByHash'),
  }),
]
