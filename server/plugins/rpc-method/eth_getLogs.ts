import { defineRpcMethod } from '../../core/define.ts'

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
  // A node is asked for logs four at a time. Who asks for hundreds leaves it to others after 16.
  concurrentCallsPerCaller: 16,
  explain: (params) => (isTryAtPaging(params) ? PAGING : undefined),
  handle: ([filter], { chain }) => chain.logs(filter),
})

const PAGING =
  'the next page is asked for by paging_options in the filter, with logIndex and blockNumber as hex strings, ' +
  'as they stand in the last entry received'

/** Whether a param, or a member of the filter, is meant to ask for a page: the document shows no example of how. */
function isTryAtPaging(params: readonly unknown[]): boolean {
  const names = params.flatMap((one) => (typeof one === 'object' && one !== null ? Object.keys(one) : []))
  return names.some((name) => TRIES.test(name))
}

const TRIES = /pag(?:e|ing|ination)|cursor|offset|limit|after|next|skip|logIndex|^blockNumber/i
