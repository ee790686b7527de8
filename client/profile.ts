import { encodeGetNonce, isAddress, isHex, ownerCall, type Hex } from './abi.ts'
import { RelayError } from './relay-error.ts'
import type { Rpc } from './rpc.ts'

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
  if (!isAddress(address)) throw new TypeError(`the profile's address is no address: ${String(address)}`)
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
