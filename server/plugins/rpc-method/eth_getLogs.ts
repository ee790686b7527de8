import { defineRpcMethod } from '../../core/define.ts'
import type { LogFilter } from '../../services/chain/logs/filter.ts'

/** Logs that a filter selects, at most 1000; the next page by `paging_options`. */
export default defineRpcMethod({
  method: 'eth_getLogs',
  clauses: [
    'eth-rpc.eth_getLogs.success',
    'eth-rpc.eth_getLogs.max-1000',
    'eth-rpc.eth_getLogs.next-page',
    'eth-rpc.eth_getLogs.page-keys-verbatim',
    'eth-rpc.eth_getLogs.page-keys-bare-hex',
    'eth-rpc.eth_getLogs.third-key',
    'eth-rpc.eth_getLogs.walk-ends',
    'eth-rpc.eth_getLogs.filter-fields',
    'eth-rpc.eth_getLogs.order',
    'eth-rpc.eth_getLogs.result-schema',
    'eth-rpc.eth_getLogs.bad-params',
  ],
  needs: ['chain'],
  handle: ([filter]: readonly [LogFilter], { chain }) => chain.logs(filter),
})
