import {
  type AlteredRequest,
  type AlteredResponse,
  atEveryPath,
  defineLawful,
  hangUp,
  mapResponses,
  respond,
  respondText,
} from '../../altered/define.ts'
import { requestObject } from '../../altered/lib/relay.ts'
import { coded, type Limit, limited, limitExceeded, retryAfter } from '../../altered/lib/answers.ts'

const everyUrl = 'both documents leave {base_url} and {relay_url} open'
const codings = 'RFC 9110 12.5.3: without Accept-Encoding the server may use any content coding'

export default [
  defineLawful({
    id: 'listens-by-ipv6',
    clauses: atEveryPath,
    allowedBy: everyUrl,
    environment: { listen: { host: '::1' } },
  }),
  defineLawful({
    id: 'listens-by-https',
    clauses: atEveryPath,
    allowedBy: everyUrl,
    environment: { listen: { https: true } },
  }),
  defineLawful({
    id: 'listens-by-https-and-ipv6-below-a-prefix',
    clauses: atEveryPath,
    allowedBy: everyUrl,
    environment: { listen: { https: true, host: '::1', prefix: '/v1/mainnet' } },
  }),
  defineLawful({
    id: 'listens-below-a-prefix',
    clauses: atEveryPath,
    allowedBy: everyUrl,
    environment: { listen: { prefix: '/services/relay%20one' } },
  }),
  defineLawful({
    id: 'has-a-base-with-a-slash-at-its-end',
    clauses: atEveryPath,
    allowedBy: everyUrl,
    environment: { listen: { prefix: '/v1', urlSuffix: '/' } },
  }),
  defineLawful({
    id: 'has-a-key-in-the-query-of-its-base',
    clauses: atEveryPath,
    allowedBy: everyUrl,
    environment: { listen: { urlSuffix: '?key=open' } },
    every: async (request, forward) =>
      request.path.includes('key=open') ? forward(request) : respond(404, { message: 'no such service' }),
  }),

  defineLawful({ id: 'answers-in-gzip', clauses: atEveryPath, allowedBy: codings, every: coded('gzip') }),
  defineLawful({ id: 'answers-in-brotli', clauses: atEveryPath, allowedBy: codings, every: coded('br') }),
  defineLawful({ id: 'answers-in-deflate', clauses: atEveryPath, allowedBy: codings, every: coded('deflate') }),
  defineLawful({ id: 'answers-in-raw-deflate', clauses: atEveryPath, allowedBy: codings, every: coded('raw deflate') }),
  defineLawful({ id: 'answers-in-zstd', clauses: atEveryPath, allowedBy: codings, every: coded('zstd') }),
  defineLawful({
    id: 'begins-with-a-byte-order-mark',
    clauses: atEveryPath,
    allowedBy: 'RFC 8259 8.1: who reads JSON may ignore a byte order mark; both documents say nothing of it',
    async every(request, forward) {
      const response = await forward(request)
      return response.hangsUp || response.text === '' ? response : { ...response, text: `\uFEFF${response.text}` }
    },
  }),
  defineLawful({
    id: 'answers-in-gzip-when-it-may',
    clauses: atEveryPath,
    allowedBy: codings,
    every: (request, forward, tools) =>
      /gzip|\*/.test(request.headers['accept-encoding'] ?? '*')
        ? coded('gzip')(request, forward, tools)
        : forward(request),
  }),

  defineLawful({
    id: 'takes-application-json-by-itself-alone',
    clauses: ['eth-rpc.endpoint.standard-format', 'eth-rpc.endpoint.post'],
    allowedBy: 'eth-rpc 2: the content type of a request is not shown; parameters of it are no part of the format',
    mayFail: ['eth-rpc.clients'],
    every: async (request, forward) =>
      request.headers['content-type'] === 'application/json'
        ? forward(request)
        : respond(415, { error: 'application/json is expected' }),
  }),
  defineLawful({
    id: 'limits-json-rpc-by-an-error-in-200',
    clauses: ['eth-rpc.endpoint.post', 'eth-rpc.endpoint.standard-format', 'eth-rpc.eth_getLogs.success'],
    allowedBy: 'eth-rpc 8: "Rate limits: not shown"; nodes use the error -32005',
    rpc: limited({ requests: 40, windowMs: 1500, refuse: (_leftMs, request) => limitExceeded(request) }),
  }),
  defineLawful({
    id: 'limits-json-rpc-by-429-with-an-error-object',
    clauses: ['eth-rpc.endpoint.post', 'eth-rpc.endpoint.standard-format'],
    allowedBy: 'eth-rpc 8: "Rate limits: not shown"',
    rpc: limited({
      requests: 40,
      windowMs: 1500,
      refuse: (leftMs, request) => ({ ...limitExceeded(request), status: 429, headers: retryAfter(leftMs) }),
    }),
  }),
  defineLawful({
    id: 'limits-json-rpc-and-hides-why',
    clauses: ['eth-rpc.endpoint.post', 'eth-rpc.endpoint.standard-format', 'eth-rpc.eth_getLogs.success'],
    allowedBy: 'eth-rpc 8: "Rate limits: not shown", nor what a target says that has one',
    rpc: limited({
      requests: 40,
      windowMs: 3000,
      refuse: (_leftMs, request) => limitExceeded(request, { code: -32603, message: 'Internal error' }),
    }),
  }),
  defineLawful({
    id: 'serves-five-json-rpc-requests-a-second-and-hides-why',
    clauses: ['eth-rpc.endpoint.post', 'eth-rpc.endpoint.standard-format', 'eth-rpc.methods.unlisted-refused'],
    allowedBy: 'eth-rpc 8: "Rate limits: not shown", nor what a target says that has one',
    rpc: limited({ requests: 5, windowMs: 1000, refuse: () => respond(400, { message: 'Bad request' }) }),
  }),
  ...(
    [
      [
        'has-a-busy-node-and-says-when-to-come-again',
        (leftMs, request) => ({
          ...limitExceeded(request, { code: -32000, message: 'upstream unavailable' }),
          headers: retryAfter(leftMs),
        }),
      ],
      [
        'has-a-busy-node-and-tells-its-status',
        (_leftMs, request) => limitExceeded(request, { code: -32603, message: 'upstream: HTTP 429' }),
      ],
    ] as readonly (readonly [string, Limit['refuse']])[]
  ).map(([id, refuse]) =>
    defineLawful({
      id,
      clauses: [
        'eth-rpc.endpoint.post',
        'eth-rpc.eth_blockNumber.success',
        'eth-rpc.eth_getLogs.success',
        'eth-rpc.batch',
      ],
      allowedBy: 'eth-rpc 8: "Rate limits: not shown"; what needs no node is served meanwhile',
      rpc: limited({
        requests: 30,
        windowMs: 1000,
        counts: (request) => requestObject(request)['method'] !== 'eth_chainId',
        refuse,
      }),
    }),
  ),
  ...(
    [
      [
        'words-of-an-error',
        (_leftMs, request) => limitExceeded(request, { code: -32000, message: 'rate limit exceeded' }),
      ],
      ['the-code-429-in-200', (_leftMs, request) => limitExceeded(request, { code: 429, message: 'compute units' })],
      ['words-for-an-error', () => respond(200, { error: 'Too many requests' })],
      ['403-with-seconds', (leftMs) => respond(403, { message: 'secondary rate limit' }, retryAfter(leftMs))],
      ['400-in-words', () => respondText(400, 'Too many requests: slow down')],
      [
        'the-words-of-a-provider',
        (_leftMs, request) => limitExceeded(request, { code: 15, message: 'Too many request, try again later' }),
      ],
      ['503-alone', () => respondText(503, 'Service Temporarily Unavailable')],
      ['closing-the-connection', () => hangUp],
    ] as readonly (readonly [string, Limit['refuse']])[]
  ).map(([form, refuse]) =>
    defineLawful({
      id: `limits-json-rpc-by-${form}`,
      clauses: ['eth-rpc.endpoint.post', 'eth-rpc.endpoint.standard-format', 'eth-rpc.eth_getLogs.success'],
      allowedBy: 'eth-rpc 8: "Rate limits: not shown"',
      rpc: limited({ requests: 40, windowMs: 1500, refuse }),
    }),
  ),
  ...(
    [
      ['an-error-in-200', (_leftMs, request) => limitExceeded(request)],
      ['429', (leftMs, request) => ({ ...limitExceeded(request), status: 429, headers: retryAfter(leftMs) })],
    ] as readonly (readonly [string, Limit['refuse']])[]
  ).map(([form, refuse]) =>
    defineLawful({
      id: `limits-logs-alone-by-${form}`,
      clauses: ['eth-rpc.eth_getLogs.success', 'eth-rpc.eth_getLogs.next-page'],
      allowedBy: 'eth-rpc 8: "Rate limits: not shown"; providers limit some methods more than others',
      rpc: limited({
        requests: 8,
        windowMs: 1500,
        counts: (request) => requestObject(request)['method'] === 'eth_getLogs',
        refuse,
      }),
    }),
  ),
  defineLawful({
    id: 'is-slow-at-json-rpc',
    clauses: ['eth-rpc.endpoint.post', 'eth-rpc.eth_blockNumber.success'],
    allowedBy: 'eth-rpc 4: how long an answer takes is not shown',
    async rpc(request, forward) {
      const response = await forward(request)
      await new Promise((resolve) => setTimeout(resolve, 150))
      return response
    },
  }),
  defineLawful({
    id: 'answers-with-201',
    clauses: ['eth-rpc.endpoint.post', 'eth-rpc.endpoint.standard-format'],
    allowedBy: 'eth-rpc 4: the one response code, "successful operation", is not shown',
    async rpc(request, forward) {
      const response = await forward(request)
      return response.status === 200 ? { ...response, status: 201 } : response
    },
  }),
  defineLawful({
    id: 'escapes-the-letters-of-its-json',
    clauses: ['eth-rpc.endpoint.post', 'eth-rpc.response.envelope', 'eth-rpc.eth_getLogs.success'],
    allowedBy: 'RFC 8259 7: any character of a string may be escaped',
    async rpc(request, forward) {
      const response = await forward(request)
      const text = response.text.replace(/[xt]/g, (letter, at: number) => {
        // Only inside strings, since `true` has a t as well.
        const isBare = letter === 't' && /[:[,]\s*$/.test(response.text.slice(Math.max(0, at - 5), at))
        return isBare ? letter : `\\u00${letter.charCodeAt(0).toString(16)}`
      })
      return { ...response, text }
    },
  }),
  defineLawful({
    id: 'keeps-answers-for-two-seconds',
    clauses: ['eth-rpc.endpoint.post', 'eth-rpc.eth_blockNumber.success', 'eth-rpc.eth_getBalance.success'],
    allowedBy: 'eth-rpc 4: of which moment an answer is, is not shown',
    async rpc(request, forward, { memory }) {
      const { id, ...question } = (request.json ?? {}) as Readonly<Record<string, unknown>>
      if (typeof id !== 'number') return forward(request)
      const key = JSON.stringify(question)
      const kept = memory.get(key) as { readonly atMs: number; readonly answer: Promise<AlteredResponse> } | undefined
      const isYoung = kept !== undefined && Date.now() - kept.atMs < 2000
      const answer = isYoung ? kept.answer : forward(request)
      if (!isYoung) memory.set(key, { atMs: Date.now(), answer })
      return mapResponses(await answer, (body) => ({ ...body, id }))
    },
  }),
  ...(
    [
      [
        'an-error-in-200',
        (request) =>
          respond(200, {
            jsonrpc: '2.0',
            id: requestObject(request)['id'] ?? null,
            error: { code: -32000, message: 'busy' },
          }),
      ],
      ['500', () => respondText(500, 'busy')],
    ] as readonly (readonly [string, (request: AlteredRequest) => AlteredResponse])[]
  ).map(([form, refusal]) =>
    defineLawful({
      id: `serves-one-json-rpc-request-at-a-time-and-others-by-${form}`,
      clauses: [
        'eth-rpc.endpoint.post',
        'eth-rpc.envelope.id-integer',
        'eth-rpc.eth_getBalance.success',
        'eth-rpc.eth_getLogs.success',
        'eth-rpc.eth_getTransactionByHash.success',
        'eth-rpc.eth_getTransactionReceipt.success',
      ],
      allowedBy: 'eth-rpc 8: "Rate limits: not shown"; how many requests are served at once is not shown',
      async rpc(request, forward, { memory }) {
        if (memory.get('is busy') === true) return refusal(request)
        memory.set('is busy', true)
        try {
          return await forward(request)
        } finally {
          memory.set('is busy', false)
        }
      },
    }),
  ),
]
