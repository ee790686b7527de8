import type { Scaffold } from './scaffold.ts'

/** A relay for another version of the key manager. The documents' clauses on POST /execute judge it; it needs no more. */
export function relayScaffold(id: string): Scaffold {
  const plugin = `server/plugins/relay/${id}.ts`
  return {
    files: new Map([[plugin, pluginText(id)]]),
    next: [
      `${plugin}: the ERC-165 ids of the key managers it speaks to; until then it serves none`,
      `${plugin}: what is signed (form) and what is sent (encode), if it is not as in LSP25`,
      `server/test/plugins/relay/${id}.test.ts: on such a key manager, as lsp6.test.ts does`,
      'npm run check -- <url> --fixture <file>   judges it by the clauses relay.execute.*, on a profile with that key manager',
      'npm test',
    ],
  }
}

const pluginText = (id: string) => `import { defineRelay } from '../../core/define.ts'
import { verifyRelayCall } from '../../services/relayer/verify.ts'
import { lsp25Form } from '../../ethereum/signature.ts'
import { keyManagerCalls } from '../../ethereum/contracts.ts'

/** By ERC-165 no contract supports it: put the key managers' ids here. */
const NO_INTERFACE = '0xffffffff'

/** Relays for one version of the key manager. */
export default defineRelay({
  id: '${id}',
  path: '/execute',
  clauses: [],
  needs: ['chain', 'relayer'],
  keyManagerInterfaceIds: [NO_INTERFACE],
  verify: async ({ transaction }, profile, { chain }) => {
    const { nonce, validityTimestamps, abi: payload } = transaction
    return verifyRelayCall(transaction, profile, {
      chainId: BigInt(await chain.id()),
      form: lsp25Form,
      encode: (signature) => keyManagerCalls.executeRelayCall(signature, nonce, validityTimestamps, payload),
    })
  },
  submit: (call, { relayer }) => relayer.submit(call),
})
`
