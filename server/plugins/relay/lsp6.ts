import { defineRelay } from '../../core/define.ts'
import { ServiceError } from '../../core/errors.ts'
import { verifyRelayCall } from '../../services/relayer/verify.ts'
import { lsp6Form, lsp6FormWithoutValidity } from '../../ethereum/signature.ts'
import { keyManagerCalls } from '../../ethereum/contracts.ts'

/** ERC-165 ids of LSP6 before LSP25 became a standard of its own. */
const WITH_VALIDITY = '0x38bb3cdb'
const WITHOUT_VALIDITY = '0xfb437414'

/**
 * Relays for key managers before LSP25: version 6 of the signed message. Those of contracts 0.10 know the validity
 * window, those of 0.8 do not.
 */
export default defineRelay({
  id: 'lsp6',
  path: '/execute',
  clauses: [],
  needs: ['relayer'],
  keyManagerInterfaceIds: [WITH_VALIDITY, WITHOUT_VALIDITY],
  verify: async ({ transaction }, profile, { relayer: { chainId } }) => {
    const { nonce, validityTimestamps, abi: payload } = transaction
    if (profile.interfaceId === WITH_VALIDITY) {
      return verifyRelayCall(transaction, profile, {
        chainId,
        form: lsp6Form,
        encode: (signature) => keyManagerCalls.executeRelayCall(signature, nonce, validityTimestamps, payload),
      })
    }
    if (validityTimestamps !== 0n) {
      // It would be relayed as if it had none.
      throw new ServiceError('INVALID_REQUEST', 'the key manager of this profile knows no validityTimestamps', {
        details: { fields: [{ field: 'transaction/validityTimestamps', problem: 'must be left out' }] },
      })
    }
    return verifyRelayCall(transaction, profile, {
      chainId,
      form: lsp6FormWithoutValidity,
      encode: (signature) => keyManagerCalls.executeRelayCallWithoutValidity(signature, nonce, payload),
    })
  },
  submit: (call, { relayer }) => relayer.submit(call),
})
