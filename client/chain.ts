import { encodeGetNonce, isAddress, isHex, ownerCall, type Hex, word } from './encoding.ts'
import { endpointsBelow } from './endpoint.ts'
import { messageOf, RelayError } from './relay-error.ts'
import { objectOf, post, type Patience, type Fetch } from './post.ts'

/** What the chain says about a profile. It is read once. */
export interface Profile {
  readonly address: Hex
  chainId(): Promise<bigint>
  /** Address of the key manager, which owns the profile (LSP6). @throws RelayError PROFILE_NOT_FOUND */
  keyManager(): Promise<Hex>
  /** The next nonce of a controller in a channel. It is read each time. @throws RelayError PROFILE_NOT_FOUND */
  nonce(controller: Hex, channel: bigint): Promise<bigint>
  /** Forgets the key manager: the profile may have another one now. */
  forget(): void
}

/** @throws TypeError the profile's address is not an address */
export function createProfile(rpc: Rpc, address: string, chainId?: number | bigint): Profile {
  if (!isAddress(address))
    throw new TypeError(`the profile's address is none, or its checksum is wrong: ${String(address)}`)
  const call = async (to: Hex, data: Hex) => rpc('eth_call', [{ to, data }, 'latest'])
  const notFound = (reason: string, cause?: unknown) =>
    new RelayError('PROFILE_NOT_FOUND', `${address} is no profile with a key manager: ${reason}`, {
      details: {},
      broadcast: false,
      cause,
    })
  const keyManager = keptUnlessItFails(async (): Promise<Hex> => {
    const owner = await call(address, ownerCall).catch(async (cause: unknown) => {
      // Nodes report a revert in many ways. A node that answers this call works, so `owner()` reverted.
      await rpc('eth_getCode', [address, 'latest'])
      throw notFound('it has no owner()', cause)
    })
    const manager = `0x${String(owner).slice(-40)}`
    if (!isHex(owner) || owner.length !== 66 || !isAddress(manager) || BigInt(manager) === 0n)
      throw notFound('it has no owner')
    return manager
  })
  const id = keptUnlessItFails(async () => BigInt(chainId ?? String(await rpc('eth_chainId', []))))
  return {
    address,
    chainId: id.get,
    keyManager: keyManager.get,
    async nonce(controller, channel) {
      const manager = await keyManager.get()
      const nonce = await call(manager, encodeGetNonce(controller, channel))
      if (!isHex(nonce) || nonce.length !== 66) throw notFound(`its owner ${manager} has no getNonce`)
      return BigInt(nonce)
    },
    forget: keyManager.forget,
  }
}

function keptUnlessItFails<Value>(make: () => Promise<Value>) {
  let kept: Promise<Value> | undefined
  const forget = () => {
    kept = undefined
  }
  const get = () =>
    (kept ??= make().catch((error: unknown) => {
      forget()
      throw error
    }))
  return { get, forget }
}

interface Fate {
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

/** What wallets and nodes offer to pages (EIP-1193). */
export interface Eip1193Provider {
  request(call: { method: string; params?: unknown }): Promise<unknown>
}

/** Calls a method of the node. @throws RelayError NODE_FAILED */
export type Rpc = (method: string, params: readonly unknown[]) => Promise<unknown>

/**
 * @param node an EIP-1193 provider, or the URL of a node
 * @throws TypeError the URL is none of http or https
 */
export function createRpc(node: string | Eip1193Provider, options: Patience & { readonly fetch: Fetch }): Rpc {
  if (typeof node !== 'string') {
    return async (method, params) => {
      try {
        return await node.request({ method, params })
      } catch (cause) {
        throw nodeFailed(method, messageOf(cause), { cause })
      }
    }
  }
  const endpoint = endpointsBelow(node, 'node')()
  return async (method, params) => {
    const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method, params })
    const { answer, error: cause } = await post(endpoint, { ...options, body })
    // Some nodes put an HTTP status beside their errors.
    const said = answer && objectOf(answer.text)
    if (said && 'result' in said) return said['result']
    const rpcError = said?.['error']
    if (rpcError !== undefined) throw nodeFailed(method, JSON.stringify(rpcError), { rpcError })
    throw nodeFailed(method, cause ? messageOf(cause) : 'no JSON-RPC answer', { cause })
  }
}

function nodeFailed(method: string, reason: string, { cause, rpcError }: { cause?: unknown; rpcError?: unknown }) {
  return new RelayError('NODE_FAILED', `the node fails at ${method}: ${reason}`, {
    details: { method, rpcError },
    cause,
  })
}
