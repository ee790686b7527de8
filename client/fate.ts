import { word, type Hex } from './abi.ts'
import type { Profile } from './profile.ts'
import type { Rpc } from './rpc.ts'

export interface Fate {
  /** Whether the nonce is used; undefined when the node does not say. */
  readonly isExecuted: boolean | undefined
  /** The transaction that carries the signature; absent when it is not found. */
  readonly transactionHash?: Hex
}

/** So far back is looked for the transaction: an hour and more of blocks of twelve seconds, and what every node serves. */
const BLOCKS = 1000n

/**
 * What the chain says about a signed call that no answer told of. The key manager logs who signed each call
 * (`PermissionsVerified`, LSP6), and the transaction that holds the signature is the one.
 */
export async function fateOf(
  rpc: Rpc,
  profile: Profile,
  controller: Hex,
  { nonce, signature }: { readonly nonce: bigint; readonly signature: Hex },
): Promise<Fate> {
  try {
    if ((await profile.nonce(controller, nonce >> 128n)) <= nonce) return { isExecuted: false }
  } catch {
    return { isExecuted: undefined }
  }
  const transactionHash = await findTransaction(rpc, await profile.keyManager(), controller, signature).catch(
    () => undefined,
  )
  return { isExecuted: true, ...(transactionHash && { transactionHash }) }
}

async function findTransaction(rpc: Rpc, keyManager: Hex, controller: Hex, signature: Hex): Promise<Hex | undefined> {
  const head = BigInt(String(await rpc('eth_blockNumber', [])))
  const fromBlock = `0x${(head > BLOCKS ? head - BLOCKS : 0n).toString(16)}`
  const topics = [null, `0x${word(BigInt(controller))}`]
  const logs = (await rpc('eth_getLogs', [{ address: keyManager, fromBlock, toBlock: 'latest', topics }])) as {
    readonly transactionHash: Hex
  }[]
  // The latest first: it is most likely the one.
  for (const hash of new Set(logs.map((log) => log.transactionHash).reverse())) {
    const transaction = (await rpc('eth_getTransactionByHash', [hash])) as { readonly input?: string } | null
    if (transaction?.input?.toLowerCase().includes(signature.slice(2).toLowerCase())) return hash
  }
  return undefined
}
