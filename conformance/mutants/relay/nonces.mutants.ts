import type { ClauseId } from '../../../specs/index.ts'
import { setTimeout as delay } from 'node:timers/promises'
import { type AlteredResponse, defineMutant, respond } from '../../altered/define.ts'
import {
  isSignedByFull,
  nextNonceOf,
  otherHash,
  resigned,
  signerOf,
  wholeTransaction,
} from '../../altered/lib/relay.ts'

export default [
  defineMutant({
    clause: 'relay.execute.key-manager-nonce',
    fault: 'a call with a used nonce is executed with another one',
    async execute(request, forward, tools) {
      const transaction = wholeTransaction(request)
      if (!transaction || !isSignedByFull(tools, transaction)) return forward(request)
      const next = await nextNonceOf(tools, tools.fixture.controllers.full.address, transaction.nonce)
      return forward(next > transaction.nonce ? resigned(request, tools, transaction.abi) : request)
    },
  }),

  defineMutant({
    clause: 'relay.execute.post',
    name: 'not-after-an-early-call',
    fault: 'after a call that came before its turn nothing is taken in that channel',
    whole: true,
    async execute(request, forward, tools) {
      const transaction = wholeTransaction(request)
      if (!transaction || !isSignedByFull(tools, transaction)) return forward(request)
      const channel = `early in ${transaction.nonce >> 128n}`
      if (tools.memory.has(channel)) return respond(400, { message: 'the channel is out of order' })
      const next = await nextNonceOf(tools, tools.fixture.controllers.full.address, transaction.nonce)
      const response = await forward(request)
      if (transaction.nonce > next && response.status !== 200) tools.memory.set(channel, true)
      return response
    },
  }),

  defineMutant({
    clause: 'relay.execute.channels',
    fault: 'a nonce above 2^53 is refused',
    execute: async (request, forward) =>
      (wholeTransaction(request)?.nonce ?? 0n) > 2n ** 53n
        ? respond(400, { message: 'nonce out of range' })
        : forward(request),
  }),

  defineMutant({
    clause: 'relay.execute.channels',
    name: 'one-at-a-time',
    fault: 'a controller may use one channel only',
    async execute(request, forward, { memory }) {
      const transaction = wholeTransaction(request)
      if (!transaction) return forward(request)
      const channel = transaction.nonce >> 128n
      const current = (memory.get('channel') ?? channel) as bigint
      memory.set('channel', current)
      return current === channel ? forward(request) : respond(409, { message: 'another channel is in use' })
    },
  }),

  defineMutant({
    clause: 'relay.execute.channel-order',
    fault: 'a call is refused while the one before is not done',
    async execute(request, forward, { memory }) {
      if (!wholeTransaction(request)) return forward(request)
      if (memory.get('busy')) return respond(409, { message: 'try again later' })
      memory.set('busy', true)
      await delay(200)
      const response = await forward(request)
      memory.delete('busy')
      return response
    },
  }),

  defineMutant({
    clause: 'relay.execute.repeat',
    fault: 'a repeated request is answered with a new hash',
    async execute(request, forward, { memory }) {
      const isRepeated = memory.has(request.text)
      memory.set(request.text, true)
      const response = await forward(request)
      const { transactionHash } = (response.json ?? {}) as Record<string, unknown>
      return isRepeated && transactionHash ? respond(200, { transactionHash: otherHash(transactionHash) }) : response
    },
  }),

  defineMutant({
    clause: 'relay.execute.repeat',
    name: 'unclear',
    fault: 'a repeated request is answered with an empty success',
    async execute(request, forward, { memory }) {
      if (memory.has(request.text)) return respond(200, {})
      memory.set(request.text, true)
      return forward(request)
    },
  }),

  defineMutant({
    clause: 'relay.execute.key-manager-nonce',
    name: 'refused-and-executed',
    fault: 'a call with a used nonce is refused, and executed with another one',
    async execute(request, forward, tools) {
      const transaction = wholeTransaction(request)
      if (!transaction || !isSignedByFull(tools, transaction)) return forward(request)
      const next = await nextNonceOf(tools, tools.fixture.controllers.full.address, transaction.nonce)
      if (next > transaction.nonce) await forward(resigned(request, tools, transaction.abi))
      return forward(request)
    },
  }),

  ...(
    [
      ['long-ago', 'long ago', (nonce, next) => next > nonce + 2n],
      ['other-channel', 'in another channel', (nonce, next) => nonce >= 2n ** 128n && next > nonce],
    ] as const satisfies readonly (readonly [string, string, (nonce: bigint, next: bigint) => boolean])[]
  ).map(([name, when, isTaken]) =>
    defineMutant({
      clause: 'relay.execute.key-manager-nonce',
      name,
      fault: `a call with a nonce that was used ${when} is executed with another one`,
      async execute(request, forward, tools) {
        const transaction = wholeTransaction(request)
        if (!transaction || !isSignedByFull(tools, transaction)) return forward(request)
        const next = await nextNonceOf(tools, tools.fixture.controllers.full.address, transaction.nonce)
        return forward(isTaken(transaction.nonce, next) ? resigned(request, tools, transaction.abi) : request)
      },
    }),
  ),

  ...(
    [
      [
        'relay.execute.key-manager-nonce',
        'nonces-of-the-profile',
        'is refused',
        () => respond(409, { message: 'the nonce is used' }),
      ],
      [
        'relay.execute.on-behalf',
        'hash-of-another-controller',
        'gets the hash of the call of that one',
        ({ earlier }) => earlier,
      ],
    ] as const satisfies readonly (readonly [
      ClauseId,
      string,
      string,
      (used: { readonly earlier: AlteredResponse }) => AlteredResponse,
    ])[]
  ).map(([clause, name, outcome, answerTo]) =>
    defineMutant({
      clause,
      name,
      whole: true,
      fault: `a nonce that another controller has used ${outcome}`,
      async execute(request, forward, tools) {
        const transaction = wholeTransaction(request)
        if (!transaction) return forward(request)
        const signer = signerOf(tools, transaction)
        const used = tools.memory.get(`${transaction.nonce}`) as
          | { signer: unknown; earlier: AlteredResponse }
          | undefined
        if (used && used.signer !== signer) return answerTo(used)
        const earlier = await forward(request)
        if (earlier.status === 200) tools.memory.set(`${transaction.nonce}`, { signer, earlier })
        return earlier
      },
    }),
  ),
]
