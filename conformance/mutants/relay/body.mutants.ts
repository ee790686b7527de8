import { defineMutant, respond, withJson } from '../../altered/define.ts'
import { knowsNoLowerCase } from '../../altered/lib/answers.ts'
import {
  alterTransaction,
  isSignedByFull,
  nextNonceOf,
  relayCallData,
  requestObject,
  resigned,
  sendFrom,
  transactionOf,
  wholeTransaction,
} from '../../altered/lib/relay.ts'

export default [
  defineMutant({
    clause: 'relay.execute.requires-address',
    fault: 'a missing address is that of the only profile',
    execute: (request, forward, { fixture }) =>
      forward(withJson(request, { address: fixture.profile.address, ...requestObject(request) })),
  }),

  defineMutant({
    clause: 'relay.execute.requires-transaction',
    fault: 'a missing transaction is the one of the request before',
    execute(request, forward, { memory }) {
      const { transaction = memory.get('transaction'), ...rest } = requestObject(request)
      memory.set('transaction', transaction)
      return forward(withJson(request, { ...rest, transaction }))
    },
  }),

  defineMutant({
    clause: 'relay.execute.requires-abi',
    fault: 'a missing abi is the one of the request before',
    execute(request, forward, tools) {
      const { abi, nonce } = transactionOf(request)
      if (typeof abi === 'string') tools.memory.set('abi', abi)
      const before = tools.memory.get('abi')
      return forward(nonce !== undefined && abi === undefined ? resigned(request, tools, String(before)) : request)
    },
  }),

  defineMutant({
    clause: 'relay.execute.requires-signature',
    fault: 'a call without a signature is signed by the relay',
    execute(request, forward, tools) {
      const { abi, signature } = transactionOf(request)
      return forward(typeof abi === 'string' && signature === undefined ? resigned(request, tools, abi) : request)
    },
  }),

  defineMutant({
    clause: 'relay.execute.requires-nonce',
    fault: 'a missing nonce is the next one of the key manager',
    async execute(request, forward, tools) {
      const { abi, nonce } = transactionOf(request)
      if (abi === undefined || nonce !== undefined) return forward(request)
      return forward(
        alterTransaction(request, { nonce: await nextNonceOf(tools, tools.fixture.controllers.full.address) }),
      )
    },
  }),

  defineMutant({
    clause: 'relay.execute.requires-abi',
    name: 'empty',
    fault: 'a missing abi is empty call data, for which a transaction is sent that reverts',
    async execute(request, forward, tools) {
      const { abi, signature, nonce } = transactionOf(request)
      if (abi !== undefined || typeof signature !== 'string' || nonce === undefined) return forward(request)
      const empty = { abi: '0x', signature, nonce: BigInt(nonce as number), validityTimestamps: 0n }
      const sent = { to: tools.fixture.profile.keyManager, data: relayCallData(empty), gas: '0x7a120' }
      return respond(200, { transactionHash: await sendFrom(tools, sent) })
    },
  }),

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

  defineMutant({
    clause: 'relay.execute.validity-timestamps',
    fault: '"0x0" is refused for its odd number of digits',
    execute: async (request, forward) =>
      transactionOf(request)['validityTimestamps'] === '0x0'
        ? respond(400, { message: 'invalid hex' })
        : forward(request),
  }),

  defineMutant({
    clause: 'relay.execute.validity-timestamps',
    name: 'expired',
    fault: 'a call whose window is over is executed nevertheless',
    execute(request, forward, tools) {
      const transaction = wholeTransaction(request)
      if (!transaction || !isSignedByFull(tools, transaction)) return forward(request)
      const end = transaction.validityTimestamps & (2n ** 128n - 1n)
      const isOver = end !== 0n && end < BigInt(Math.floor(Date.now() / 1000))
      return forward(isOver ? resigned(request, tools, transaction.abi) : request)
    },
  }),

  defineMutant({
    clause: 'relay.execute.validity-timestamps',
    name: 'ignored',
    fault: 'validityTimestamps is dropped, so that the signature does not fit',
    execute: (request, forward) =>
      forward(
        'validityTimestamps' in transactionOf(request)
          ? alterTransaction(request, { validityTimestamps: undefined })
          : request,
      ),
  }),

  defineMutant({
    clause: 'relay.execute.address-hex',
    name: 'lower-case',
    fault: 'an address in lower case is not found',
    execute: knowsNoLowerCase,
  }),
]
