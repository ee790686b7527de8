import { defineMutant, respond, respondText } from '../../altered/define.ts'
import { alterFilter, alterResult, filterOf, refuse } from '../../altered/lib/rpc.ts'

export default [
  defineMutant({
    clause: 'eth-rpc.fuzz.no-server-error',
    name: 'letters',
    fault: 'a text with letters beyond ASCII is answered by a server error',
    rpc: async (request, forward) =>
      /[^\0-\x7f]/.test(request.text) ? respondText(500, 'Internal Server Error') : forward(request),
  }),
  defineMutant({
    clause: 'eth-rpc.fuzz.no-server-error',
    name: 'large-numbers',
    fault: 'a number in exponent notation is answered by a server error',
    rpc: async (request, forward) => (/\de\+\d/.test(request.text) ? respond(502, {}) : forward(request)),
  }),
  defineMutant({
    clause: 'eth-rpc.fuzz.equal-answers',
    name: 'tabs',
    fault: 'a tab between two tokens is no white space',
    rpc: async (request, forward) =>
      request.text.includes('\t')
        ? respond(200, { jsonrpc: '2.0', id: null, error: { code: -32700, message: 'no JSON' } })
        : forward(request),
  }),
  defineMutant({
    clause: 'eth-rpc.fuzz.equal-answers',
    name: 'params-first',
    fault: 'params are not read where they stand before all other members',
    rpc: refuse(-32602, (_body, { text }) => /^\s*\{\s*"params"/.test(text)),
  }),
  defineMutant({
    clause: 'eth-rpc.fuzz.as-on-chain',
    fault: 'the logs with topics of an address in small letters are not found in one block alone',
    rpc: alterResult('eth_getLogs', (logs, body) => {
      const { address, fromBlock, toBlock } = filterOf(body) ?? {}
      const isSmall = typeof address === 'string' && address === address.toLowerCase()
      if (!isSmall || fromBlock !== toBlock || !Array.isArray(logs)) return logs
      return (logs as { topics: unknown[] }[]).filter(({ topics }) => topics.length === 0)
    }),
  }),
  defineMutant({
    clause: 'eth-rpc.fuzz.pages-add-up',
    name: 'alternatives-of-many',
    fault: 'where there are several addresses, only the first alternative for a topic is looked for',
    rpc: alterFilter((filter) => {
      const { address, topics } = filter
      if (!Array.isArray(address) || !Array.isArray(topics)) return filter
      return { ...filter, topics: topics.map((want: unknown) => (Array.isArray(want) ? want.slice(0, 1) : want)) }
    }),
  }),
  defineMutant({
    clause: 'eth-rpc.fuzz.pages-add-up',
    name: 'two-topics-of-many',
    fault: 'two topics of several addresses lose the last entry of a page',
    rpc: alterResult('eth_getLogs', (logs, body) => {
      const { address, topics } = filterOf(body) ?? {}
      const isMixed = Array.isArray(address) && Array.isArray(topics) && topics.length > 1
      return isMixed && Array.isArray(logs) ? (logs as unknown[]).slice(0, -1) : logs
    }),
  }),
]
