import { defineMutant, respond } from '../../altered/define.ts'
import { trustsWhatItHasSeen } from '../../altered/lib/answers.ts'
import {
  alterTransaction,
  isSignedByFull,
  nextNonceOf,
  resigned,
  signerOf,
  wholeTransaction,
} from '../../altered/lib/relay.ts'
import { keyManagerAbi } from '../../lib/relay/contracts.ts'

export default [
  defineMutant({
    clause: 'relay.execute.bad-signature',
    fault: 'the signature is not looked at: the relay signs itself',
    execute(request, forward, tools) {
      const transaction = wholeTransaction(request)
      if (!transaction || isSignedByFull(tools, transaction)) return forward(request)
      return forward(resigned(request, tools, transaction.abi))
    },
  }),

  defineMutant({
    clause: 'relay.execute.bad-signature',
    name: 'late',
    fault: 'a call with a wrong signature is refused, and executed before the next valid one',
    async execute(request, forward, tools) {
      const transaction = wholeTransaction(request)
      if (!transaction) return forward(request)
      if (!isSignedByFull(tools, transaction)) {
        tools.memory.set('refused', resigned(request, tools, transaction.abi))
        return forward(request)
      }
      const refused = tools.memory.get('refused') as typeof request | undefined
      tools.memory.clear()
      if (refused) await forward(refused)
      return forward(request)
    },
  }),

  defineMutant({
    clause: 'relay.execute.bad-signature',
    name: 'other-chain',
    fault: 'a signature for the chain with the next id is taken',
    execute(request, forward, tools) {
      const transaction = wholeTransaction(request)
      const { controllers, chain } = tools.fixture
      const signer = transaction && signerOf(tools, transaction, BigInt(chain.chainId) + 1n)
      const takeOver = signer?.toLowerCase() === controllers.full.address.toLowerCase()
      return forward(transaction && takeOver ? resigned(request, tools, transaction.abi) : request)
    },
  }),

  defineMutant({
    clause: 'relay.execute.bad-signature',
    name: 'zeros',
    fault: 'a signature of zeros is a request to sign',
    execute(request, forward, tools) {
      const transaction = wholeTransaction(request)
      const isZero = transaction && /^0x0+$/.test(transaction.signature)
      return forward(isZero ? resigned(request, tools, transaction.abi) : request)
    },
  }),

  defineMutant({
    clause: 'relay.execute.bad-signature',
    name: 'fifteen-seconds-later',
    fault: 'a call with a wrong signature is refused, and executed fifteen seconds later',
    whole: true,
    environment: { options: ['--linger-ms', '17000'] },
    async execute(request, forward, tools) {
      const transaction = wholeTransaction(request)
      const response = await forward(request)
      if (transaction && !isSignedByFull(tools, transaction) && response.status === 401) {
        const later = resigned(request, tools, transaction.abi)
        // The run may be over by then, and the server may have ended.
        setTimeout(() => void forward(later).catch(() => undefined), 15_000)
      }
      return response
    },
  }),

  defineMutant({
    clause: 'relay.execute.bad-signature',
    name: 'other-nonce',
    fault: 'a signature over the next nonce is taken',
    execute(request, forward, tools) {
      const transaction = wholeTransaction(request)
      const next = transaction && { ...transaction, nonce: transaction.nonce + 1n }
      const takeOver = next && isSignedByFull(tools, next)
      return forward(takeOver ? resigned(request, tools, next.abi) : request)
    },
  }),

  defineMutant({
    clause: 'relay.execute.bad-signature',
    name: 'any-well-formed',
    fault: 'any signature from which a signer can be recovered is taken',
    execute(request, forward, tools) {
      const transaction = wholeTransaction(request)
      const takeOver = transaction && !isSignedByFull(tools, transaction) && signerOf(tools, transaction)
      return forward(takeOver ? resigned(request, tools, transaction.abi) : request)
    },
  }),

  defineMutant({
    clause: 'relay.execute.bad-signature',
    name: 'hangs-up-and-executes',
    fault: 'a call with a wrong signature is executed, and answered with 401',
    async execute(request, forward, tools) {
      const transaction = wholeTransaction(request)
      if (!transaction || isSignedByFull(tools, transaction)) return forward(request)
      await forward(resigned(request, tools, transaction.abi))
      return respond(401, { message: 'Invalid signature' })
    },
  }),

  defineMutant({
    clause: 'relay.execute.bad-signature',
    name: 'known-signature',
    fault: 'a signature that was verified once is trusted with any other call',
    async execute(request, forward, tools) {
      const transaction = wholeTransaction(request)
      if (!transaction) return forward(request)
      const key = transaction.signature.toLowerCase()
      const isOther = tools.memory.get(key) !== undefined && !isSignedByFull(tools, transaction)
      const response = await forward(isOther ? resigned(request, tools, transaction.abi) : request)
      if (response.status === 200) tools.memory.set(key, true)
      return response
    },
  }),

  defineMutant({
    clause: 'relay.execute.bad-signature',
    name: 'session',
    fault: 'for three seconds after a valid call no signature is looked at',
    async execute(request, forward, tools) {
      const transaction = wholeTransaction(request)
      if (!transaction) return forward(request)
      const isOpen = Date.now() < Number(tools.memory.get('until') ?? 0)
      if (!isSignedByFull(tools, transaction)) {
        return forward(isOpen ? resigned(request, tools, transaction.abi) : request)
      }
      tools.memory.set('until', Date.now() + 3000)
      return forward(request)
    },
  }),

  defineMutant({
    clause: 'relay.execute.permission',
    fault: 'a controller that may not relay is helped out by another one',
    execute(request, forward, tools) {
      const transaction = wholeTransaction(request)
      const signer = transaction && signerOf(tools, transaction)
      const isNoRelay = signer?.toLowerCase() === tools.fixture.controllers.noRelay.address.toLowerCase()
      return forward(transaction && isNoRelay ? resigned(request, tools, transaction.abi) : request)
    },
  }),

  defineMutant({
    clause: 'relay.execute.permission',
    name: 'wasted',
    fault: 'calls are sent without a simulation: what is not permitted costs a transaction that reverts',
    async execute(request, forward, tools) {
      const transaction = wholeTransaction(request)
      const { controllers, profile, funder } = tools.fixture
      const signer = transaction && signerOf(tools, transaction)
      if (!transaction || signer?.toLowerCase() !== controllers.noRelay.address.toLowerCase()) return forward(request)
      const { signature, nonce, abi } = transaction
      const data = keyManagerAbi.encodeFunctionData('executeRelayCall', [signature, nonce, 0n, abi])
      // The node mines the transaction, and answers with its revert.
      await tools
        .chain('eth_sendTransaction', [{ from: funder?.address, to: profile.keyManager, data, gas: '0x7a120' }])
        .catch(() => undefined)
      const block = (await tools.chain('eth_getBlockByNumber', ['latest', true])) as {
        transactions: { hash: string; input: string }[]
      }
      return respond(200, { transactionHash: block.transactions.find(({ input }) => input === data)?.hash })
    },
  }),

  defineMutant({
    clause: 'relay.execute.bad-signature',
    name: 'no-bytes',
    fault: 'a call with a signature of no bytes is signed by the relay itself',
    execute(request, forward, tools) {
      const transaction = wholeTransaction(request)
      return forward(
        transaction?.signature === '0x' ? resigned(request, tools, transaction.abi, transaction.nonce) : request,
      )
    },
  }),

  defineMutant({
    clause: 'relay.execute.bad-signature',
    name: 'seen',
    fault: 'a call that was refused is signed by the relay itself when it comes again',
    execute: trustsWhatItHasSeen((request, tools) => {
      const transaction = wholeTransaction(request)
      return transaction && resigned(request, tools, transaction.abi, transaction.nonce)
    }),
  }),

  defineMutant({
    clause: 'relay.execute.bad-signature',
    name: 'own-nonce',
    fault: 'the nonce is that of the key manager, whatever the request says',
    async execute(request, forward, tools) {
      const transaction = wholeTransaction(request)
      if (!transaction) return forward(request)
      const nonce = await nextNonceOf(tools, tools.fixture.controllers.full.address, transaction.nonce)
      const isMeant = isSignedByFull(tools, { ...transaction, nonce })
      return forward(isMeant ? alterTransaction(request, { nonce }) : request)
    },
  }),
]
