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
    fault: 'the logs of an address in small letters are not found',
    rpc: alterResult('eth_getLogs', (logs, body) => {
      const { address, fromBlock, toBlock } = filterOf(body) ?? {}
      const isSmall = typeof address === 'string' && address === address.toLowerCase()
      return isSmall && fromBlock === toBlock ? [] : logs
    }),
  }),
  defineMutant({
    clause: 'eth-rpc.fuzz.pages-add-up',
    name: 'third-alternative',
    fault: 'of the alternatives for one of the first two topics only two are looked for',
    rpc: alterFilter((filter) => {
      const { topics } = filter
      if (!Array.isArray(topics)) return filter
      return {
        ...filter,
        topics: topics.map((want: unknown, place) => (Array.isArray(want) && place < 2 ? want.slice(0, 2) : want)),
      }
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
