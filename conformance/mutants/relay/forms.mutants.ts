import { defineMutant, withJson } from '../../altered/define.ts'
import {
  requestObject,
  nextNonceOf,
  resigned,
  transactionOf,
  wholeTransaction,
  alterTransaction,
} from '../../altered/lib/relay.ts'

export default [
  defineMutant({
    clause: 'relay.execute.address-hex',
    fault: 'address is made a string: an array that holds one becomes it',
    execute(request, forward) {
      const body = requestObject(request)
      return forward(
        Array.isArray(body['address']) ? withJson(request, { ...body, address: String(body['address']) }) : request,
      )
    },
  }),

  defineMutant({
    clause: 'relay.execute.address-hex',
    name: 'length',
    fault: 'an address that is too long is cut',
    execute(request, forward) {
      const body = requestObject(request)
      const { address } = body
      const isLong = typeof address === 'string' && address.length > 42
      return forward(isLong ? withJson(request, { ...body, address: address.slice(0, 42) }) : request)
    },
  }),

  defineMutant({
    clause: 'relay.execute.abi-hex',
    fault: 'transaction.abi is made a string: an array that holds one becomes it',
    execute(request, forward) {
      const { abi } = transactionOf(request)
      return forward(Array.isArray(abi) ? alterTransaction(request, { abi: String(abi) }) : request)
    },
  }),

  defineMutant({
    clause: 'relay.execute.signature-hex',
    fault: 'transaction.signature is made a string: an array that holds one becomes it',
    execute(request, forward) {
      const { signature } = transactionOf(request)
      return forward(Array.isArray(signature) ? alterTransaction(request, { signature: String(signature) }) : request)
    },
  }),

  defineMutant({
    clause: 'relay.execute.signature-hex',
    name: 'letters',
    fault: 'a signature with letters that are no hex digits is taken',
    execute(request, forward, tools) {
      const transaction = wholeTransaction(request)
      const isOdd = transaction?.signature.endsWith('zz')
      return forward(isOdd ? resigned(request, tools, transaction?.abi ?? '0x') : request)
    },
  }),

  defineMutant({
    clause: 'relay.execute.nonce-integer',
    fault: 'a fraction is rounded down',
    execute(request, forward) {
      const { nonce } = transactionOf(request)
      const isFraction = typeof nonce === 'number' && !Number.isInteger(nonce)
      return forward(isFraction ? alterTransaction(request, { nonce: Math.floor(nonce) }) : request)
    },
  }),

  defineMutant({
    clause: 'relay.execute.nonce-integer',
    name: 'any',
    fault: 'what is no number is the next nonce of the key manager',
    async execute(request, forward, tools) {
      const { nonce } = transactionOf(request)
      if (nonce === undefined || typeof nonce === 'number' || typeof nonce === 'bigint') return forward(request)
      return forward(
        alterTransaction(request, { nonce: await nextNonceOf(tools, tools.fixture.controllers.full.address) }),
      )
    },
  }),

  defineMutant({
    clause: 'relay.execute.nonce-integer',
    name: 'array',
    fault: 'an array that holds a number is taken for it',
    execute(request, forward) {
      const { nonce } = transactionOf(request)
      return forward(Array.isArray(nonce) ? alterTransaction(request, { nonce: nonce[0] as unknown }) : request)
    },
  }),

  defineMutant({
    clause: 'relay.execute.address-hex',
    name: 'null',
    fault: 'an address of null is that of the only profile',
    execute(request, forward, { fixture }) {
      const body = requestObject(request)
      return forward(
        body['address'] === null ? withJson(request, { ...body, address: fixture.profile.address }) : request,
      )
    },
  }),

  defineMutant({
    clause: 'relay.execute.abi-hex',
    name: 'letters',
    fault: 'letters in abi that are no hex digits are read as zeros',
    execute(request, forward, tools) {
      const { abi } = transactionOf(request)
      const isOdd = typeof abi === 'string' && abi.endsWith('zz')
      return forward(isOdd ? resigned(request, tools, abi.replace('zz', '00')) : request)
    },
  }),

  defineMutant({
    clause: 'relay.execute.signature-hex',
    name: 'null',
    fault: 'a signature of null is made by the relay',
    execute(request, forward, tools) {
      const { signature, abi } = transactionOf(request)
      return forward(signature === null ? resigned(request, tools, String(abi)) : request)
    },
  }),

  ...(
    [
      ['negative', 'a negative nonce is made positive', (nonce) => typeof nonce === 'number' && nonce < 0],
      ['null', 'a nonce of null is the next one', (nonce) => nonce === null],
      ['boolean', 'a nonce of true or false is the next one', (nonce) => typeof nonce === 'boolean'],
      ['empty', 'an empty string is the next nonce', (nonce) => nonce === ''],
    ] as const satisfies readonly (readonly [string, string, (nonce: unknown) => boolean])[]
  ).map(([name, fault, isTaken]) =>
    defineMutant({
      clause: 'relay.execute.nonce-integer',
      name,
      fault,
      async execute(request, forward, tools) {
        const { nonce } = transactionOf(request)
        if (!isTaken(nonce)) return forward(request)
        const next = await nextNonceOf(tools, tools.fixture.controllers.full.address)
        return forward(alterTransaction(request, { nonce: next }))
      },
    }),
  ),
]
