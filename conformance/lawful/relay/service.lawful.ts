import { type ClauseId, clauses } from '../../../specs/index.ts'
import { atEveryPath, defineLawful, hangUp, respond, respondText } from '../../altered/define.ts'
import { limited, retryAfter, retryAfterDate } from '../../altered/lib/answers.ts'

const manyHeaders = {
  'x-ratelimit-limit': '600',
  'x-ratelimit-remaining': '0',
  'x-ratelimit-reset': '1',
  'set-cookie': 'session=1; HttpOnly',
  'access-control-allow-origin': '*',
  'www-authenticate': 'Bearer realm="other endpoints"',
  'x-api-version': '7',
  vary: 'Accept-Encoding, Origin',
  warning: '199 - "maintenance on Sunday"',
}

/** What Cloudflare shows to clients that ask too often for its taste. */
const blockPage = `<!DOCTYPE html><html><head><title>Attention Required! | Cloudflare</title></head>
<body><h1>Sorry, you have been blocked</h1><p>You are unable to access this service.</p></body></html>`

/** The required clauses of the relay interface whose id begins with this. */
function required(prefix: string): ClauseId[] {
  const ids = Object.keys(clauses) as ClauseId[]
  return ids.filter((id) => id.startsWith(prefix) && clauses[id].level === 'required')
}

/** The clauses whose checks send several requests at once. */
const together = [
  ...atEveryPath,
  'relay.execute.repeat',
  'relay.execute.channel-order',
  'relay.execute.hash-of-transaction',
  'eth-rpc.envelope.id-integer',
  'eth-rpc.eth_getLogs.success',
] as const
const connections = 'both documents say nothing of connections'

export default [
  defineLawful({
    id: 'serves-others-than-this-profile',
    clauses: ['relay.execute.post', 'relay.execute.signature-authenticates', 'relay.quota.post'],
    allowedBy: 'relay 4.4: "a registered profile"; how one is registered, and what others get, is not shown',
    untestable: required('relay.'),
    execute: async () =>
      respond(403, { code: 'PROFILE_NOT_REGISTERED', message: 'Please register this profile first' }),
    quota: async () => respond(404, { error: { message: 'unknown profile' } }),
  }),

  defineLawful({
    id: 'executes-for-anyone-and-tells-quota-to-the-registered',
    clauses: ['relay.execute.post', 'relay.quota.post'],
    allowedBy: 'relay 4.4: "a registered profile"; how one is registered, and what others get, is not shown',
    untestable: [...required('relay.quota.'), 'relay.auth.no-other-credential'],
    quota: async () => respond(403, { message: 'this profile is not registered' }),
  }),

  defineLawful({
    id: 'adds-headers',
    clauses: ['relay.auth.no-other-credential', 'eth-rpc.endpoint.post'],
    allowedBy: 'both documents show no headers; relay 8: rate limits, 9: versioning: not shown',
    async every(request, forward) {
      const response = await forward(request)
      return { ...response, headers: { ...response.headers, ...manyHeaders } }
    },
  }),

  defineLawful({
    id: 'wants-a-user-agent',
    clauses: atEveryPath,
    allowedBy: 'RFC 9110 10.1.5: a client should say what it is; both documents show no headers of a request',
    every: async (request, forward) =>
      request.headers['user-agent'] ? forward(request) : respond(403, { message: 'who is there?' }),
  }),

  defineLawful({
    id: 'has-the-date-of-another-machine',
    clauses: ['relay.quota.window', 'relay.quota.post'],
    allowedBy: 'relay 5.5: the current time; that the Date header of a proxy tells it is not shown',
    async every(request, forward) {
      const response = await forward(request)
      const date = new Date(Date.now() - 47_000).toUTCString()
      return { ...response, headers: { ...response.headers, date } }
    },
  }),

  defineLawful({
    id: 'closes-each-connection',
    clauses: atEveryPath,
    allowedBy: connections,
    async every(request, forward) {
      const response = await forward(request)
      return { ...response, headers: { ...response.headers, connection: 'close' } }
    },
  }),

  defineLawful({
    id: 'closes-a-second-connection',
    clauses: together,
    allowedBy: connections,
    environment: { listen: { connections: 1 } },
  }),
  defineLawful({
    id: 'closes-a-fourth-connection-by-https',
    clauses: together,
    allowedBy: connections,
    environment: { listen: { connections: 3, https: true } },
  }),
  defineLawful({
    id: 'closes-a-sixth-connection-in-a-second',
    clauses: together,
    allowedBy: connections,
    environment: { listen: { newConnections: { count: 5, windowMs: 1000 } } },
  }),
  defineLawful({
    id: 'serves-one-connection-after-the-other',
    clauses: together,
    allowedBy: connections,
    environment: { listen: { inTurn: true } },
  }),

  defineLawful({
    id: 'says-the-length-of-its-answers',
    clauses: ['eth-rpc.endpoint.post', 'relay.execute.post'],
    allowedBy: 'both documents say nothing of transfer',
    async every(request, forward) {
      const response = await forward(request)
      const length = String(Buffer.byteLength(response.text))
      return response.hangsUp ? response : { ...response, headers: { ...response.headers, 'content-length': length } }
    },
  }),

  defineLawful({
    id: 'names-no-content-type',
    clauses: ['relay.execute.response', 'relay.quota.post', 'eth-rpc.endpoint.post'],
    allowedBy: 'both documents show no content type of an answer',
    async every(request, forward) {
      const response = await forward(request)
      const kept = Object.entries(response.headers).filter(([name]) => name !== 'content-type')
      return { ...response, headers: Object.fromEntries(kept) }
    },
  }),

  defineLawful({
    id: 'calls-json-plain-text',
    clauses: ['relay.execute.response', 'relay.quota.post', 'eth-rpc.endpoint.post'],
    allowedBy: 'both documents show no content type of an answer',
    async every(request, forward) {
      const response = await forward(request)
      return { ...response, headers: { ...response.headers, 'content-type': 'text/plain; charset=utf-8' } }
    },
  }),

  defineLawful({
    id: 'lays-its-answers-out-over-lines',
    clauses: ['relay.execute.response', 'relay.quota.post', 'eth-rpc.endpoint.post'],
    allowedBy: 'white space and the order of members mean nothing in JSON',
    async every(request, forward) {
      const response = await forward(request)
      const isJson = response.json !== undefined && !/\d{16}/.test(response.text)
      return isJson ? { ...response, text: `\ufeff${JSON.stringify(response.json, null, 4)}\r\n`.slice(1) } : response
    },
  }),

  defineLawful({
    id: 'is-known-by-post-alone',
    clauses: atEveryPath,
    allowedBy: 'both documents show POST alone',
    every: async (request, forward) => (request.method === 'POST' ? forward(request) : respond(501, {})),
  }),

  defineLawful({
    id: 'limits-requests-by-429-with-seconds',
    clauses: ['relay.execute.post', 'relay.quota.post'],
    allowedBy: 'relay 8: "Rate limits … not shown"',
    every: limited({
      requests: 60,
      windowMs: 2000,
      refuse: (leftMs) => respond(429, { message: 'too many' }, retryAfter(leftMs)),
    }),
  }),

  defineLawful({
    id: 'limits-requests-by-429-with-a-date',
    clauses: ['relay.execute.post', 'relay.quota.post'],
    allowedBy: 'relay 8: "Rate limits … not shown"',
    every: limited({
      requests: 60,
      windowMs: 2000,
      refuse: (leftMs) => respond(429, { message: 'too many' }, retryAfterDate(leftMs)),
    }),
  }),

  defineLawful({
    id: 'limits-requests-by-429-alone',
    clauses: ['relay.execute.post', 'relay.quota.post'],
    allowedBy: 'relay 8: "Rate limits … not shown"',
    every: limited({ requests: 60, windowMs: 2000, refuse: () => respond(429, {}) }),
  }),

  defineLawful({
    id: 'limits-requests-by-closing-the-connection',
    clauses: atEveryPath,
    allowedBy: 'relay 7, 8: rate limits and error responses are not shown; a firewall closes connections',
    mayFail: ['relay.execute.channel-order', 'relay.execute.repeat'],
    every: limited({ requests: 60, windowMs: 2000, refuse: () => hangUp }),
  }),

  defineLawful({
    id: 'shuts-out-for-seconds-by-a-page',
    clauses: atEveryPath,
    allowedBy: 'relay 8: "Rate limits … not shown"; a firewall in front of a service answers with a page of its own',
    mayFail: ['relay.execute.channel-order', 'relay.execute.repeat'],
    async every(request, forward, { memory }) {
      const now = Date.now()
      if (now < Number(memory.get('until') ?? 0)) return respondText(403, blockPage, { 'content-type': 'text/html' })
      const recent = ((memory.get('recent') ?? []) as number[]).filter((time) => now - time < 2000)
      memory.set('recent', [...recent, now])
      if (recent.length >= 60) memory.set('until', now + 4000)
      return forward(request)
    },
  }),

  defineLawful({
    id: 'limits-quota-by-400-in-words',
    clauses: ['relay.quota.post', 'relay.quota.window', 'relay.quota.hash', 'relay.quota.bound-to-message'],
    allowedBy: 'relay 8: "Rate limits … not shown"',
    every: limited({
      requests: 4,
      windowMs: 1500,
      counts: ({ path }) => path === '/quota',
      refuse: () => respond(400, { message: 'slow down and try again' }),
    }),
  }),

  defineLawful({
    id: 'limits-requests-by-503-with-retry-after',
    clauses: atEveryPath,
    allowedBy: 'relay 8: "Rate limits … not shown"',
    every: limited({
      requests: 60,
      windowMs: 2000,
      refuse: (leftMs) => respond(503, { message: 'busy' }, retryAfter(leftMs)),
    }),
  }),

  defineLawful({
    id: 'serves-one-request-at-a-time',
    clauses: ['relay.execute.post', 'relay.execute.hash-of-transaction', 'relay.quota.post', 'eth-rpc.endpoint.post'],
    allowedBy: 'relay 8: "Rate limits … not shown": whether requests at the same time are all served is not shown',
    mayFail: ['relay.execute.channel-order', 'relay.execute.repeat'],
    async every(request, forward, { memory }) {
      if (memory.get('busy')) return respond(503, { message: 'busy' })
      memory.set('busy', true)
      try {
        return await forward(request)
      } finally {
        memory.set('busy', false)
      }
    },
  }),
]
