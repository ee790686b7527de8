import {
  alterAnswer,
  isSignedByFull,
  otherHash,
  relayCallData,
  requestObject,
  resigned,
  sendFrom,
  wholeTransaction,
} from '../../altered/lib/relay.ts'
import { count, holds, later, mixedUp, nowAndThen } from '../../altered/lib/answers.ts'
import { hexlify, Interface, keccak256, randomBytes, toQuantity, ZeroAddress } from 'ethers'
import {
  type AlteredResponse,
  type AlteredTools,
  defineMutant,
  type Handler,
  hangUp,
  respond,
  withJson,
} from '../../altered/define.ts'
import { profileAbi } from '../../lib/relay/contracts.ts'

const keyManager = new Interface(['function execute(bytes payload) payable returns (bytes)'])

interface ExecuteAnswer {
  readonly transactionHash?: unknown
}

const isTaken: (response: AlteredResponse) => boolean = holds('transactionHash')

/** Answers every fourth call that a controller has signed, and does not execute it. */
function inPlaceOfEachFourth(answer: (call: { readonly signature: string }) => AlteredResponse): Handler {
  return async (request, forward, tools) => {
    const transaction = wholeTransaction(request)
    if (!transaction || !isSignedByFull(tools, transaction)) return forward(request)
    return count(tools, 'asked') % 4 === 3 ? answer(transaction) : forward(request)
  }
}

/** Sends calls that the controller has signed from an account of its own, always with so much gas. */
function sentWithGas(gas: number): Handler {
  return async (request, forward, tools) => {
    const transaction = wholeTransaction(request)
    const { address, keyManager } = tools.fixture.profile
    const isOurs = String(requestObject(request)['address']).toLowerCase() === address.toLowerCase()
    if (!isOurs || !transaction || !isSignedByFull(tools, transaction)) return forward(request)
    const sent = { to: keyManager, data: relayCallData(transaction), gas: toQuantity(gas) }
    return respond(200, { transactionHash: await sendFrom(tools, sent) })
  }
}

export default [
  defineMutant({
    clause: 'relay.execute.post',
    fault: 'POST /execute is not there',
    execute: async () => respond(404, { message: 'Not Found' }),
  }),

  defineMutant({
    clause: 'relay.execute.post',
    name: 'queued',
    fault: 'calls are queued and never executed',
    execute: async () => respond(202, { status: 'queued' }),
  }),

  defineMutant({
    clause: 'relay.execute.post',
    name: 'knows-the-profile-for-its-quota-alone',
    fault: 'a profile whose quota is told is not registered where calls are sent',
    execute: async () => respond(404, { message: 'profile not registered' }),
  }),

  defineMutant({
    clause: 'relay.execute.response',
    fault: 'the hash has another name',
    execute: alterAnswer('transactionHash', ({ transactionHash }) => ({ hash: transactionHash })),
  }),

  defineMutant({
    clause: 'relay.execute.response',
    name: 'no-hex',
    fault: 'transactionHash is a decimal number in a string',
    execute: alterAnswer('transactionHash', ({ transactionHash }) => ({
      transactionHash: String(BigInt(transactionHash as string)),
    })),
  }),

  defineMutant({
    clause: 'relay.execute.hash-of-transaction',
    fault: 'transactionHash is the hash of something else',
    execute: alterAnswer('transactionHash', ({ transactionHash }) => ({ transactionHash: otherHash(transactionHash) })),
  }),

  defineMutant({
    clause: 'relay.execute.execute-relay-call',
    fault: 'the call is executed by execute(), by a relay that is a controller itself',
    async execute(request, forward, tools) {
      const transaction = wholeTransaction(request)
      if (!transaction || !isSignedByFull(tools, transaction)) return forward(request)
      const { profile, controllers } = tools.fixture
      const data = keyManager.encodeFunctionData('execute', [transaction.abi])
      const sent = { from: controllers.full.address, to: profile.keyManager, data }
      return respond(200, { transactionHash: await tools.chain('eth_sendTransaction', [sent]) })
    },
  }),

  defineMutant({
    clause: 'relay.execute.execute-relay-call',
    name: 'other-nonce',
    fault: 'the payload is executed with a nonce and a signature of the relay',
    execute(request, forward, tools) {
      const transaction = wholeTransaction(request)
      const takeOver = transaction && isSignedByFull(tools, transaction)
      return forward(takeOver ? resigned(request, tools, transaction.abi) : request)
    },
  }),

  defineMutant({
    clause: 'relay.execute.on-behalf',
    fault: 'another call is executed than the one that was signed',
    execute(request, forward, tools) {
      const transaction = wholeTransaction(request)
      if (!transaction || !isSignedByFull(tools, transaction)) return forward(request)
      const other = profileAbi.encodeFunctionData('setData', [hexlify(randomBytes(32)), '0x01'])
      return forward(resigned(request, tools, other, transaction.nonce))
    },
  }),

  defineMutant({
    clause: 'relay.execute.signature-authenticates',
    fault: 'POST /execute asks for a token as well',
    execute: async (request, forward) =>
      request.headers['authorization'] ? forward(request) : respond(401, { message: 'Missing token' }),
  }),

  defineMutant({
    clause: 'relay.execute.post',
    name: 'answers-500',
    fault: 'a call that is executed is answered with 500',
    async execute(request, forward) {
      const response = await forward(request)
      return isTaken(response) ? respond(500, { message: 'Internal Server Error' }) : response
    },
  }),

  defineMutant({
    clause: 'relay.execute.post',
    name: 'answers-500-now-and-then',
    fault: 'each fourth call that is executed is answered with 500',
    whole: true,
    execute: nowAndThen(4, isTaken, () => respond(500, { message: 'Internal Server Error' })),
  }),

  defineMutant({
    clause: 'relay.execute.signature-authenticates',
    name: 'now-and-then',
    fault: 'each fourth valid call is refused with 401, and not executed',
    whole: true,
    execute: inPlaceOfEachFourth(() => respond(401, { message: 'Unauthorized' })),
  }),

  defineMutant({
    clause: 'relay.execute.post',
    name: 'hangs-up-now-and-then',
    fault: 'each fourth valid call ends in a closed connection, and is not executed',
    whole: true,
    execute: inPlaceOfEachFourth(() => hangUp),
  }),

  defineMutant({
    clause: 'relay.execute.post',
    name: 'refuses-after-ten',
    fault: 'after ten calls every call is refused with 500, with the quota as it was',
    whole: true,
    async execute(request, forward, tools) {
      const transaction = wholeTransaction(request)
      if (!transaction || !isSignedByFull(tools, transaction)) return forward(request)
      const asked = Number(tools.memory.get('asked') ?? 0)
      tools.memory.set('asked', asked + 1)
      return asked >= 10 ? respond(500, { message: 'Failed to execute' }) : forward(request)
    },
  }),

  ...(
    [
      ['later', 'right for the first five calls, later the hash has another name', (hash) => ({ hash })],
      [
        'number-later',
        'right for the first five calls, later the hash is a number',
        (hash) => ({ transactionHash: BigInt(hash) }),
      ],
      [
        'cut-later',
        'right for the first five calls, later the hash lacks its last byte',
        (hash) => ({ transactionHash: hash.slice(0, -2) }),
      ],
      ['absent-later', 'right for the first five calls, later the answer is empty', () => ({})],
    ] as const satisfies readonly (readonly [string, string, (hash: string) => object])[]
  ).map(([name, fault, answer]) =>
    defineMutant({
      clause: 'relay.execute.response',
      name,
      fault,
      whole: true,
      execute: later(5, isTaken, ({ json }) => respond(200, answer(String((json as ExecuteAnswer).transactionHash)))),
    }),
  ),

  ...(
    [
      ['cut', 'transactionHash lacks its last byte', (hash) => ({ transactionHash: hash.slice(0, -2) })],
      ['list', 'transactionHash is a list that holds it', (hash) => ({ transactionHash: [hash] })],
      ['nested', 'transactionHash stands in a member of the answer', (hash) => ({ data: { transactionHash: hash } })],
      [
        'url',
        'transactionHash is the address of a page',
        (hash) => ({ transactionHash: `https://explorer.invalid/tx/${hash}` }),
      ],
    ] as const satisfies readonly (readonly [string, string, (hash: string) => object])[]
  ).map(([name, fault, answer]) =>
    defineMutant({
      clause: 'relay.execute.response',
      name,
      fault,
      execute: alterAnswer('transactionHash', ({ transactionHash }) => ({ ...answer(String(transactionHash)) })),
    }),
  ),

  defineMutant({
    clause: 'relay.execute.hash-of-transaction',
    name: 'later',
    fault: 'right for the first five calls, later the hash of something else',
    whole: true,
    execute: later(5, isTaken, ({ json }) =>
      respond(200, { transactionHash: otherHash((json as ExecuteAnswer).transactionHash) }),
    ),
  }),

  defineMutant({
    clause: 'relay.execute.hash-of-transaction',
    name: 'payload',
    fault: 'transactionHash is the hash of the payload',
    async execute(request, forward) {
      const response = await forward(request)
      const transaction = wholeTransaction(request)
      return transaction && isTaken(response) ? respond(200, { transactionHash: keccak256(transaction.abi) }) : response
    },
  }),

  defineMutant({
    clause: 'relay.execute.hash-of-transaction',
    name: 'for-a-used-nonce',
    fault: 'a used nonce is answered with 200 and a hash that the chain never sees',
    whole: true,
    async execute(request, forward) {
      const response = await forward(request)
      return response.status === 409
        ? respond(200, { transactionHash: keccak256(Buffer.from(request.text)) })
        : response
    },
  }),

  defineMutant({
    clause: 'relay.execute.hash-of-transaction',
    name: 'for-a-bad-signature',
    fault: 'a bad signature is answered with 200 and a hash that the chain never sees',
    whole: true,
    async execute(request, forward) {
      const response = await forward(request)
      return response.status === 401
        ? respond(200, { transactionHash: keccak256(Buffer.from(request.text)) })
        : response
    },
  }),

  defineMutant({
    clause: 'relay.execute.hash-of-transaction',
    name: 'for-a-missing-permission',
    fault: 'a call that is not permitted is answered with 200 and a hash that the chain never sees',
    whole: true,
    async execute(request, forward) {
      const response = await forward(request)
      return response.status === 403
        ? respond(200, { transactionHash: keccak256(Buffer.from(request.text)) })
        : response
    },
  }),

  defineMutant({
    clause: 'relay.execute.hash-of-transaction',
    name: 'previous',
    fault: 'transactionHash is that of the call before',
    whole: true,
    async execute(request, forward, { memory }) {
      const response = await forward(request)
      if (!isTaken(response)) return response
      const { transactionHash } = response.json as ExecuteAnswer
      const before = memory.get('before') ?? transactionHash
      memory.set('before', transactionHash)
      return respond(200, { transactionHash: before })
    },
  }),

  defineMutant({
    clause: 'relay.execute.on-behalf',
    name: 'another-address',
    fault: 'a call for another well-formed address is executed on the profile of the signer',
    execute(request, forward, { fixture }) {
      const body = requestObject(request)
      const isAddress = typeof body['address'] === 'string' && /^0x[0-9a-f]{40}$/i.test(body['address'])
      return forward(isAddress ? withJson(request, { ...body, address: fixture.profile.address }) : request)
    },
  }),

  defineMutant({
    clause: 'relay.execute.on-behalf',
    name: 'reverts',
    fault: 'calls are sent with too little gas, and revert',
    execute: sentWithGas(45_000),
  }),

  defineMutant({
    clause: 'relay.execute.on-behalf',
    name: 'reverts-with-much-data',
    fault: 'all calls are sent with as much gas as a small one needs, and one with much data reverts',
    execute: sentWithGas(200_000),
  }),

  defineMutant({
    clause: 'relay.execute.hash-of-transaction',
    name: 'pays-itself',
    fault: 'coin that the profile is to send is sent by the relay',
    whole: true,
    async execute(request, forward, tools) {
      const transaction = wholeTransaction(request)
      const call = transaction && profileAbi.parseTransaction({ data: transaction.abi })
      if (!transaction || !isSignedByFull(tools, transaction) || call?.name !== 'execute') return forward(request)
      const transfer = { to: String(call.args['target']), value: toQuantity(call.args['value'] as bigint) }
      return respond(200, { transactionHash: await sendFrom(tools, transfer) })
    },
  }),

  defineMutant({
    clause: 'relay.execute.hash-of-transaction',
    name: 'third-at-once',
    fault: 'while two other calls are on their way, a call gets the hash of one of them',
    async execute(request, forward, { memory }) {
      const asked = Number(memory.get('on their way') ?? 0) + 1
      memory.set('on their way', asked)
      const response = await forward(request)
      memory.set('on their way', Number(memory.get('on their way')) - 1)
      if (!isTaken(response)) return response
      if (asked > 2) return respond(200, { transactionHash: memory.get('hash') ?? hexlify(randomBytes(32)) })
      memory.set('hash', (response.json as ExecuteAnswer).transactionHash)
      return response
    },
  }),

  defineMutant({
    clause: 'relay.execute.on-behalf',
    name: 'later',
    fault: 'right for the first five calls, later another call is executed than the one that was signed',
    whole: true,
    execute(request, forward, tools) {
      const transaction = wholeTransaction(request)
      if (!transaction || !isSignedByFull(tools, transaction)) return forward(request)
      const asked = Number(tools.memory.get('asked') ?? 0)
      tools.memory.set('asked', asked + 1)
      const other = profileAbi.encodeFunctionData('setData', [hexlify(randomBytes(32)), '0x01'])
      return forward(asked < 5 ? request : resigned(request, tools, other, transaction.nonce))
    },
  }),

  defineMutant({
    clause: 'relay.execute.on-behalf',
    name: 'twice',
    fault: 'each call is executed a second time, with a signature and a nonce of the relay',
    async execute(request, forward, tools) {
      const response = await forward(request)
      const transaction = wholeTransaction(request)
      if (transaction && isTaken(response)) await forward(resigned(request, tools, transaction.abi))
      return response
    },
  }),

  defineMutant({
    clause: 'relay.execute.on-behalf',
    name: 'twice-later',
    fault: 'each call is executed a second time eight seconds later, with a signature and a nonce of the relay',
    environment: { options: ['--linger-ms', '17000'] },
    async execute(request, forward, tools) {
      const response = await forward(request)
      const transaction = wholeTransaction(request)
      if (transaction && isTaken(response))
        setTimeout(() => void forward(resigned(request, tools, transaction.abi)).catch(() => undefined), 8_000)
      return response
    },
  }),

  defineMutant({
    clause: 'relay.execute.execute-relay-call',
    name: 'direct-later',
    fault: 'after five calls they are executed by execute(), by a relay that is a controller itself',
    whole: true,
    async execute(request, forward, tools) {
      const transaction = wholeTransaction(request)
      if (!transaction || !isSignedByFull(tools, transaction)) return forward(request)
      const asked = Number(tools.memory.get('asked') ?? 0)
      tools.memory.set('asked', asked + 1)
      if (asked < 5) return forward(request)
      const { profile, controllers } = tools.fixture
      const data = keyManager.encodeFunctionData('execute', [transaction.abi])
      return respond(200, {
        transactionHash: await sendFrom(tools, { to: profile.keyManager, data }, controllers.full.address),
      })
    },
  }),

  defineMutant({
    clause: 'relay.execute.signature-authenticates',
    name: 'cookie',
    fault: 'POST /execute asks for a session as well',
    execute: async (request, forward) =>
      request.headers['cookie'] ? forward(request) : respond(403, { message: 'No session' }),
  }),

  defineMutant({
    clause: 'relay.execute.post',
    name: 'own-channels-alone',
    fault: 'calls of channel 0 are refused',
    async execute(request, forward) {
      const transaction = wholeTransaction(request)
      return transaction && transaction.nonce < 2n ** 128n
        ? respond(400, { message: 'a channel is needed' })
        : forward(request)
    },
  }),

  defineMutant({
    clause: 'relay.execute.hash-of-transaction',
    name: 'lost-now-and-then',
    fault: 'each fourth call is answered with a hash, and its transaction is lost before it is sent',
    whole: true,
    execute: inPlaceOfEachFourth(({ signature }) => respond(200, { transactionHash: otherHash(signature) })),
  }),

  ...(
    [
      ['key-manager', 'the address of the key manager', ({ fixture }) => fixture.profile.keyManager],
      ['zero', 'the address zero', () => ZeroAddress],
    ] as const satisfies readonly (readonly [string, string, (tools: AlteredTools) => string])[]
  ).map(([name, what, addressOf]) =>
    defineMutant({
      clause: 'relay.execute.on-behalf',
      name,
      fault: `${what} is taken for that of the profile`,
      execute: (request, forward, tools) => {
        const body = requestObject(request)
        const isTaken = body['address'] === addressOf(tools)
        return forward(isTaken ? withJson(request, { ...body, address: tools.fixture.profile.address }) : request)
      },
    }),
  ),

  defineMutant({
    clause: 'relay.execute.hash-of-transaction',
    name: 'repeated',
    fault: 'a repeated request is answered with a hash that was made up',
    whole: true,
    async execute(request, forward, { memory }) {
      if (memory.has(request.text)) return respond(200, { transactionHash: keccak256(Buffer.from(request.text)) })
      const response = await forward(request)
      if (isTaken(response)) memory.set(request.text, true)
      return response
    },
  }),

  defineMutant({
    clause: 'relay.execute.hash-of-transaction',
    name: 'mixed-up',
    fault: 'of calls that come at once each gets the hash of the last',
    execute: mixedUp((_response, last) => respond(200, last), 'transactionHash'),
  }),

  defineMutant({
    clause: 'relay.execute.hash-of-transaction',
    name: 'same-payload',
    fault: 'a call with the payload of an earlier one is not executed, and gets the earlier hash',
    async execute(request, forward, tools) {
      const transaction = wholeTransaction(request)
      if (!transaction || !isSignedByFull(tools, transaction)) return forward(request)
      const earlier = tools.memory.get(transaction.abi) as AlteredResponse | undefined
      if (earlier) return earlier
      const response = await forward(request)
      if (isTaken(response)) tools.memory.set(transaction.abi, response)
      return response
    },
  }),
]
