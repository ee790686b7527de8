import { defineMutant, mapResponses } from '../../altered/define.ts'
import { alterResult, nullForBadParams } from '../../altered/lib/rpc.ts'

export default [
  defineMutant({
    clause: 'eth-rpc.eth_getTransactionReceipt.success',
    fault: 'more gas than was used',
    rpc: alterResult(
      'eth_getTransactionReceipt',
      (found) => found && { ...(found as Record<string, unknown>), gasUsed: '0xffffff' },
    ),
  }),

  defineMutant({
    clause: 'eth-rpc.eth_getTransactionReceipt.success',
    name: 'logs',
    fault: 'without its logs',
    rpc: alterResult(
      'eth_getTransactionReceipt',
      (found) => found && { ...(found as Record<string, unknown>), logs: [] },
    ),
  }),

  defineMutant({
    clause: 'eth-rpc.eth_getTransactionReceipt.unknown',
    fault: 'an error instead of null for an unknown hash',
    rpc: async (request, forward) => {
      const response = await forward(request)
      if ((request.json as { method?: unknown } | null)?.method !== 'eth_getTransactionReceipt') return response
      return mapResponses(response, (answer) =>
        answer['result'] === null
          ? { jsonrpc: '2.0', id: answer['id'], error: { code: -32000, message: 'not found' } }
          : answer,
      )
    },
  }),

  defineMutant({
    clause: 'eth-rpc.eth_getTransactionReceipt.result-schema',
    fault: 'the status is a JSON number',
    rpc: alterResult('eth_getTransactionReceipt', (found) => {
      const receipt = found as Record<string, unknown> | null
      return receipt && { ...receipt, status: Number(receipt['status']) }
    }),
  }),

  defineMutant({
    clause: 'eth-rpc.eth_getTransactionReceipt.bad-params',
    fault: 'null instead of an error for a malformed hash',
    rpc: nullForBadParams('eth_getTransactionReceipt'),
  }),
]
