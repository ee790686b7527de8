import { defineRelay } from '../../core/define.ts'
import { verifyRelayCall } from '../../services/relayer/verify.ts'
import { lsp25Form } from '../../ethereum/signature.ts'
import { keyManagerCalls } from '../../ethereum/contracts.ts'

/** Relays for key managers with LSP25 (LSP6 since contracts 0.11). */
export default defineRelay({
  id: 'lsp25',
  path: '/execute',
  clauses: [
    'relay.execute.post',
    'relay.execute.response',
    'relay.execute.hash-of-transaction',
    'relay.execute.execute-relay-call',
    'relay.execute.on-behalf',
    'relay.execute.signature-authenticates',
    'relay.execute.bad-signature',
    'relay.execute.key-manager-nonce',
    'relay.execute.channels',
    'relay.execute.channel-order',
    'relay.execute.validity-timestamps',
    'relay.execute.permission',
    'relay.execute.repeat',
  ],
  needs: ['relayer'],
  keyManagerInterfaceIds: ['0x5ac79908'],
  verify: async ({ transaction }, profile, { relayer }) => {
    const { nonce, validityTimestamps, abi: payload } = transaction
    return verifyRelayCall(transaction, profile, {
      chainId: relayer.chainId,
      form: lsp25Form,
      encode: (signature) => keyManagerCalls.executeRelayCall(signature, nonce, validityTimestamps, payload),
    })
  },
  submit: (call, { relayer }) => relayer.submit(call),
})
