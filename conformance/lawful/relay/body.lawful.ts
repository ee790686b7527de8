import type { ClauseId } from '../../../specs/index.ts'
import { defineLawful, type Lawful, respond, respondText, withJson } from '../../altered/define.ts'
import { byBody, byHangingUp, byStatus, type Refusal, refusesBy } from '../../altered/lib/answers.ts'
import { alterTransaction, requestObject, transactionOf } from '../../altered/lib/relay.ts'

const clauses: readonly [ClauseId, ...ClauseId[]] = [
  'relay.execute.requires-address',
  'relay.execute.requires-transaction',
  'relay.execute.requires-abi',
  'relay.execute.requires-signature',
  'relay.execute.requires-nonce',
  'relay.quota.requires-address',
  'relay.quota.requires-timestamp',
  'relay.quota.requires-signature',
  'relay.execute.bad-signature',
  'relay.quota.sign-permission',
  'relay.quota.window',
]

function refusing(id: string, form: Refusal, more: Partial<Lawful> = {}): Lawful {
  return defineLawful({
    id: `refuses-${id}`,
    clauses,
    allowedBy: 'relay 7: "Error responses, status codes and error bodies: not shown"',
    ...refusesBy(form),
    ...more,
  })
}

/**
 * Statuses without 429 and 503, which would mean a rate limit with Retry-After, and without a 401 for every request,
 * which would ask for a credential.
 */
const statuses = [200, 202, 204, 302, 400, 401, 403, 404, 409, 418, 422, 500, 502]

/** A refusal with a 2xx status is not the clear one that the standard asks for when a call is repeated. */
const unclear = { mayFail: ['relay.execute.repeat'] } as const

/** The members that the document lists. */
const listed = new Set(['address', 'transaction', 'abi', 'signature', 'nonce'])

function isListed(body: Readonly<Record<string, unknown>>): boolean {
  return Object.keys(body).every((name) => listed.has(name))
}

/** Adds 0x to hex digits that lack it. */
function prefixed(value: unknown): unknown {
  return typeof value === 'string' && /^([0-9a-f]{2})+$/i.test(value) ? `0x${value}` : value
}

export default [
  ...statuses.map((status) =>
    status === 204
      ? refusing('by-204', () => respondText(204, ''), unclear)
      : refusing(`by-${status}`, byStatus(status), status < 300 ? unclear : {}),
  ),
  refusing('with-503', byStatus(503)),

  refusing('by-closing-the-connection', byHangingUp, { mayFail: ['relay.execute.repeat'] }),
  refusing('with-an-empty-body', byBody('')),
  refusing('in-text', byBody('Invalid signature', 'text/plain; charset=utf-8')),
  refusing('in-html', byBody('<!doctype html><title>Bad Request</title><h1>Bad Request</h1>', 'text/html')),
  refusing('in-text-that-is-called-json', byBody('Failed to execute', 'application/json')),
  refusing('with-a-json-string', byBody('"Failed to execute"', 'application/json')),
  refusing('with-json-null', byBody('null', 'application/json')),
  refusing('with-a-json-array', byBody('["signature"]', 'application/json')),
  refusing('with-an-empty-object', byBody('{}', 'application/json')),
  refusing('with-error-text', byBody('{"error":"Invalid signature"}', 'application/json')),
  refusing('with-error-object', byBody('{"error":{"code":4001,"message":"Invalid signature"}}', 'application/json')),
  refusing(
    'with-problem-json',
    byBody('{"type":"about:blank","title":"Bad Request","status":400}', 'application/problem+json'),
  ),
  refusing('with-xml', byBody('<error code="4001"/>', 'application/xml')),
  refusing('with-bytes', byBody('\u0000\u0001\ufffd', 'application/octet-stream')),
  refusing('with-a-hash-of-null', ({ status }) => respond(status, { transactionHash: null, quota: null })),
  refusing('with-an-empty-hash', ({ status }) => respond(status, { transactionHash: '', message: 'refused' })),
  refusing('in-200-with-a-hash-of-null', byStatus(200, { transactionHash: null, quota: null }), unclear),
  refusing('in-200-with-success-false', byStatus(200, { success: false, error: 'Invalid signature' }), unclear),
  refusing('in-200-with-text', () => respondText(200, 'Invalid signature', { 'content-type': 'text/plain' }), unclear),
  refusing('with-a-json-rpc-error', byStatus(200, { error: { code: -32000, message: 'Invalid signature' } }), unclear),
  refusing('with-what-was-sent', async ({ status }) =>
    respond(status, { message: 'refused', request: { address: null, transaction: {}, quota: null } }),
  ),
  refusing('with-a-hash-of-zeros', ({ status }) => respond(status, { transactionHash: `0x${'00'.repeat(32)}` })),
  refusing('in-200-with-a-hash-of-zeros', byStatus(200, { transactionHash: `0x${'00'.repeat(32)}` }), unclear),
  refusing(
    'in-200-with-zero-values',
    byStatus(200, { transactionHash: '0x', quota: 0, unit: '', totalQuota: 0 }),
    unclear,
  ),
  refusing('with-retry-after', ({ status }) => respond(status, { message: 'no' }, { 'retry-after': '30' })),
  refusing('with-words-of-a-limit', ({ status }) => respond(status, { message: 'try again later' })),
  refusing('with-a-challenge', () => respond(401, { message: 'bad signature' }, { 'www-authenticate': 'Signature' })),
  refusing('late', async (refused) => {
    await new Promise((resolve) => setTimeout(resolve, 1500))
    return refused
  }),

  defineLawful({
    id: 'takes-listed-members-alone',
    clauses: ['relay.execute.post', 'relay.execute.validity-timestamps'],
    allowedBy: 'relay 2 lists the members of the execute request; that others are taken is not shown',
    mayFail: ['relay.execute.validity-timestamps'],
    execute: async (request, forward) =>
      isListed(requestObject(request)) && isListed(transactionOf(request))
        ? forward(request)
        : respond(400, { message: 'unknown member' }),
  }),

  defineLawful({
    id: 'drops-unlisted-members',
    clauses: ['relay.execute.post', 'relay.execute.validity-timestamps'],
    allowedBy: 'relay 2 lists the members of the execute request; what becomes of others is not shown',
    mayFail: ['relay.execute.validity-timestamps'],
    execute(request, forward) {
      const { address, transaction } = requestObject(request)
      const { abi, signature, nonce } = transactionOf(request)
      if (typeof transaction !== 'object' || transaction === null || Array.isArray(transaction)) return forward(request)
      return forward(withJson(request, { address, transaction: { abi, signature, nonce } }))
    },
  }),

  defineLawful({
    id: 'takes-a-number-alone-as-nonce',
    clauses: ['relay.execute.nonce-integer'],
    allowedBy: 'relay 2: transaction.nonce is an integer',
    execute: async (request, forward) =>
      typeof transactionOf(request)['nonce'] === 'string'
        ? respond(400, { message: 'nonce is no integer' })
        : forward(request),
  }),

  defineLawful({
    id: 'takes-hex-without-0x-too',
    clauses: ['relay.execute.address-hex', 'relay.execute.abi-hex', 'relay.execute.signature-hex'],
    allowedBy: 'relay 2: "string, hex": whether 0x stands before the digits is not shown',
    execute(request, forward) {
      const body = requestObject(request)
      const { abi, signature } = transactionOf(request)
      if (typeof abi !== 'string' || typeof signature !== 'string') return forward(request)
      const { json } = alterTransaction(request, { abi: prefixed(abi), signature: prefixed(signature) })
      return forward(withJson(request, { ...(json as object), address: prefixed(body['address']) }))
    },
  }),

  defineLawful({
    id: 'takes-a-whole-number-in-any-notation',
    clauses: ['relay.execute.nonce-integer'],
    allowedBy: 'relay 2: transaction.nonce is an integer; 5.0 is one, in another notation of JSON',
    execute(request, forward) {
      const { nonce } = transactionOf(request)
      return forward(
        typeof nonce === 'number' && Number.isSafeInteger(nonce) ? alterTransaction(request, { nonce }) : request,
      )
    },
  }),

  defineLawful({
    id: 'takes-no-validity',
    clauses: ['relay.execute.validity-timestamps', 'relay.execute.post'],
    allowedBy: 'relay 2 has no validityTimestamps',
    mayFail: ['relay.execute.validity-timestamps'],
    execute: async (request, forward) =>
      'validityTimestamps' in transactionOf(request)
        ? respond(400, { message: 'validityTimestamps is not allowed' })
        : forward(request),
  }),
]
