import { defineLawful, respond, withJson } from '../../altered/define.ts'
import { requestObject, transactionOf, alterTransaction } from '../../altered/lib/relay.ts'

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
]
