import { defineLawful, respond } from '../../altered/define.ts'
import {
  alterTransaction,
  isSignedByFull,
  nextNonceOf,
  transactionOf,
  wholeTransaction,
} from '../../altered/lib/relay.ts'

export default [
  defineLawful({
    id: 'refuses-what-it-has-seen',
    clauses: ['relay.execute.repeat', 'relay.execute.key-manager-nonce'],
    allowedBy: 'relay 7: how a repeated request is answered is not shown',
    async execute(request, forward, { memory }) {
      if (memory.has(request.text)) return respond(409, { message: 'seen before' })
      const response = await forward(request)
      if (response.status === 200) memory.set(request.text, true)
      return response
    },
  }),

  // Debatable: the hash of what used the nonce says what became of it, and nothing is executed anew.
  defineLawful({
    id: 'answers-a-used-nonce-with-the-hash-that-used-it',
    clauses: ['relay.execute.key-manager-nonce', 'relay.execute.repeat'],
    allowedBy: 'relay 7: how a used nonce is answered is not shown; the hash is that of a transaction',
    async execute(request, forward, tools) {
      const transaction = wholeTransaction(request)
      if (!transaction || !isSignedByFull(tools, transaction)) return forward(request)
      const key = String(transaction.nonce)
      const found = tools.memory.get(key)
      if (found) return respond(200, { transactionHash: found })
      const response = await forward(request)
      const { transactionHash } = (response.json ?? {}) as { transactionHash?: unknown }
      if (transactionHash) tools.memory.set(key, transactionHash)
      return response
    },
  }),

  defineLawful({
    id: 'answers-a-used-nonce-with-an-empty-success',
    clauses: ['relay.execute.key-manager-nonce', 'relay.execute.hash-of-transaction'],
    allowedBy: 'relay 7: how a used nonce is answered is not shown; nothing is executed, and no hash is told',
    mayFail: ['relay.execute.repeat'],
    async execute(request, forward) {
      const response = await forward(request)
      return response.status === 409 ? respond(200, {}) : response
    },
  }),

  defineLawful({
    id: 'takes-nonces-as-strings-too',
    clauses: ['relay.execute.nonce-integer'],
    allowedBy: 'relay 2: transaction.nonce is an integer; that its digits are taken in a string as well is not shown',
    execute(request, forward) {
      const { nonce } = transactionOf(request)
      const isDigits = typeof nonce === 'string' && /^\d+$/.test(nonce)
      return forward(isDigits ? alterTransaction(request, { nonce: BigInt(nonce) }) : request)
    },
  }),

  defineLawful({
    id: 'takes-the-next-nonce-alone',
    clauses: ['relay.execute.channel-order', 'relay.execute.channels'],
    allowedBy: 'relay 2: nonce is the one of the key manager: that which it has now',
    mayFail: ['relay.execute.channel-order', 'relay.execute.repeat'],
    async execute(request, forward, tools) {
      const transaction = wholeTransaction(request)
      if (!transaction || !isSignedByFull(tools, transaction)) return forward(request)
      const next = await nextNonceOf(tools, tools.fixture.controllers.full.address, transaction.nonce)
      return transaction.nonce > next ? respond(409, { message: 'not yet' }) : forward(request)
    },
  }),

  defineLawful({
    id: 'knows-no-channels',
    clauses: ['relay.execute.channels', 'relay.execute.channel-order', 'relay.execute.post'],
    allowedBy: 'relay 2: nonce is an integer, the one of the key manager; channels are of the other standard',
    mayFail: ['relay.execute.channels'],
    execute: async (request, forward) =>
      (wholeTransaction(request)?.nonce ?? 0n) > 2n ** 53n
        ? respond(400, { message: 'nonce out of range' })
        : forward(request),
  }),

  defineLawful({
    id: 'executes-one-call-after-the-other',
    clauses: ['relay.execute.channel-order', 'relay.execute.channels'],
    allowedBy: 'relay 4: whether calls wait for each other is not shown',
    async execute(request, forward, { memory }) {
      const before = (memory.get('before') ?? Promise.resolve()) as Promise<unknown>
      const answering = before.then(() => forward(request))
      memory.set(
        'before',
        answering.then(() => new Promise((resolve) => setTimeout(resolve, 150))),
      )
      return answering
    },
  }),
]
