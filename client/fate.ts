import { word, type Hex } from './abi.ts'
import type { Profile } from './profile.ts'
import type { Rpc } from './rpc.ts'

export interface Fate {
  /** Whether the nonce is used. Undefined when the node does not say. */
  readonly isExecuted: boolean | undefined
  /** Hash of the transaction that carries the signature. Absent when it was not found. */
  readonly transactionHash?: Hex
}

/**
 * Number of blocks that are searched for the transaction: more than an hour of twelve-second blocks, and every node
 * serves it.
 */
const BLOCKS = 1000n

/**
 * Asks the chain what became of a signed call without an answer. The key manager logs the signer of each call
 * (`PermissionsVerified`, LSP6). Of these transactions, the one that contains the signature carried the call.
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
  // The latest comes first, because it is the most likely one.
  for (const hash of new Set(logs.map((log) => log.transactionHash).reverse())) {
    const transaction = (await rpc('eth_getTransactionByHash', [hash])) as { readonly input?: string } | null
    if (transaction?.input?.toLowerCase().includes(signature.slice(2).toLowerCase())) return hash
  }
  return undefined
}
