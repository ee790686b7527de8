import { defineLawful, respond } from '../../altered/define.ts'
import {
  ownAccount,
  relayCallData,
  requestObject,
  sendFrom,
  signerOf,
  transactionOf,
  wholeTransaction,
} from '../../altered/lib/relay.ts'

export default [
  defineLawful({
    id: 'sends-refused-calls-and-pays-for-the-revert',
    clauses: ['relay.execute.bad-signature', 'relay.execute.key-manager-nonce', 'relay.execute.permission'],
    allowedBy: 'relay 7: what is answered to a call that executes nothing is not shown; a reverted transaction is one',
    // The standards recommend against wasted transactions.
    mayFail: ['relay.execute.permission', 'relay.execute.repeat', 'relay.execute.validity-timestamps'],
    async execute(request, forward, tools) {
      const response = await forward(request)
      const transaction = wholeTransaction(request)
      const { fixture, chain } = tools
      const isProfile =
        String(requestObject(request)['address']).toLowerCase() === fixture.profile.address.toLowerCase()
      // A malformed call cannot be sent.
      if (response.status < 401 || response.status === 404 || !transaction || !isProfile) return response
      const data = relayCallData(transaction)
      const from = ownAccount(2).address
      const transactionHash = await sendFrom(tools, { to: fixture.profile.keyManager, data, gas: '0x7a120' }, from)
      await chain('eth_blockNumber')
      return respond(200, { transactionHash })
    },
  }),

  defineLawful({
    id: 'refuses-before-it-reads-the-nonce',
    clauses: ['relay.execute.bad-signature', 'relay.execute.nonce-integer'],
    allowedBy: 'relay 7: in which order a request is examined is not shown',
    async execute(request, forward, tools) {
      const transaction = wholeTransaction(request)
      const known = Object.values(tools.fixture.controllers).map(({ address }) => address.toLowerCase())
      const signer = transaction && signerOf(tools, transaction)?.toLowerCase()
      return signer !== undefined && known.includes(signer)
        ? forward(request)
        : respond(401, { error: 'who is there?' })
    },
  }),

  defineLawful({
    id: 'blocks-a-caller-for-a-moment-after-a-refusal',
    clauses: ['relay.execute.bad-signature', 'relay.execute.permission'],
    allowedBy: 'relay 8: "Rate limits … not shown"',
    async execute(request, forward, { memory }) {
      const until = Number(memory.get('until') ?? 0)
      if (Date.now() < until) return respond(429, { message: 'slow down' }, { 'retry-after': '1' })
      const response = await forward(request)
      if (response.status === 401) memory.set('until', Date.now() + 300)
      return response
    },
  }),

  defineLawful({
    id: 'relays-for-known-controllers-alone',
    clauses: ['relay.execute.permission'],
    allowedBy: 'relay 5: whom else the service refuses is not shown',
    async execute(request, forward, tools) {
      const transaction = wholeTransaction(request)
      const signer = transaction && signerOf(tools, transaction)?.toLowerCase()
      const isNoRelay = signer === tools.fixture.controllers.noRelay.address.toLowerCase()
      return isNoRelay ? respond(404, { message: 'no such controller' }) : forward(request)
    },
  }),

  defineLawful({
    id: 'relays-for-one-controller-alone',
    clauses: ['relay.execute.key-manager-nonce', 'relay.execute.post'],
    allowedBy: 'relay 5: whom else the service refuses is not shown',
    async execute(request, forward, tools) {
      const transaction = wholeTransaction(request)
      const signer = transaction && signerOf(tools, transaction)
      const isOther = signer === tools.fixture.controllers.noSign.address
      return isOther ? respond(404, { message: 'no such controller' }) : forward(request)
    },
  }),

  defineLawful({
    id: 'refuses-equal-payloads',
    clauses: ['relay.execute.hash-of-transaction', 'relay.execute.post'],
    allowedBy: 'relay 7: which calls are refused is not shown',
    async execute(request, forward, { memory }) {
      const { abi } = transactionOf(request)
      if (memory.has(String(abi))) return respond(409, { message: 'this payload was relayed before' })
      const response = await forward(request)
      if (response.status === 200) memory.set(String(abi), true)
      return response
    },
  }),
]
