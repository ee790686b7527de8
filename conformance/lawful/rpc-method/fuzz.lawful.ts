import { defineLawful, respondText } from '../../altered/define.ts'

const options = ['--fuzz', '30', '--seed', '3']

export default [
  defineLawful({
    id: 'refuses-random-requests-without-a-body',
    clauses: ['eth-rpc.fuzz.no-server-error', 'eth-rpc.fuzz.equal-answers', 'eth-rpc.fuzz.as-on-chain'],
    allowedBy: 'eth-rpc 7: how a broken request is answered is not shown',
    mayFail: [
      'eth-rpc.response.error-object',
      'eth-rpc.response.error-codes',
      'eth-rpc.response.envelope',
      'eth-rpc.response.id-echo',
      'eth-rpc.batch',
    ],
    environment: { options },
    async rpc(request, forward) {
      const response = await forward(request)
      const { error } = (response.json ?? {}) as { error?: object }
      return error ? respondText(400, '') : response
    },
  }),
  defineLawful({
    id: 'pages-of-400-for-random-filters',
    clauses: ['eth-rpc.fuzz.pages-add-up'],
    allowedBy: 'eth-rpc 4 and 8: never more than 1000 entries; that there are fewer is allowed',
    mayFail: ['eth-rpc.eth_getLogs.walk-ends'],
    environment: { options },
    async rpc(request, forward) {
      const response = await forward(request)
      const { result } = (response.json ?? {}) as { result?: unknown }
      if (!Array.isArray(result) || result.length <= 400) return response
      return respondText(200, JSON.stringify({ ...(response.json as object), result: result.slice(0, 400) }), {
        'content-type': 'application/json',
      })
    },
  }),
]
