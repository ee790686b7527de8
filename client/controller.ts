import { addressOf, personalDigest, isAddress, isHex, type Hex } from './encoding.ts'
import { RelayError } from './relay-error.ts'
import type { Eip1193Provider } from './chain.ts'

/**
 * Signs for the profile. One of:
 *
 * - a local account of viem, or any object with its `sign({ hash })`
 * - a `Wallet` or `SigningKey` of ethers
 * - an object of your own with `signDigest`, which signs 32 bytes without a prefix
 * - a wallet (EIP-1193), a signer of ethers or an account of viem in front of one: for `quota()` alone, since wallets sign
 *   personal messages, and no digest of LSP25
 */
export type Controller =
  | { readonly address: string; signDigest(digest: Hex): Promise<string> | string }
  | { readonly address: string; sign(parameters: { hash: Hex }): Promise<string> }
  | { readonly address: string; readonly signingKey: SigningKey }
  | (SigningKey & { readonly publicKey: string })
  | { readonly address: string; signMessage(message: Uint8Array): Promise<string> }
  | Eip1193Provider

interface SigningKey {
  sign(digest: string): { readonly serialized: string }
}

/** What the client uses, made from any kind of {@link Controller}. */
export interface Signer {
  address(): Promise<Hex>
  /** Signs 32 bytes without a prefix; the signature has 65 bytes. @throws RelayError CANNOT_SIGN */
  signDigest(digest: Hex): Promise<Hex>
  /** Signs 32 bytes as a personal message (EIP-191); the signature has 65 bytes. @throws RelayError CANNOT_SIGN */
  signPersonal(message: Hex): Promise<Hex>
}

/** @throws TypeError the value is none of the kinds of {@link Controller} */
export function signerOf(controller: Controller): Signer {
  // A private key may stand here by mistake: no error may hold it.
  if (Object(controller) !== controller) throw noController(` is a value of type ${typeof controller}, and`)
  const sign = digestSigner(controller)
  if (sign) {
    const address = checkedAddress('address' in controller ? controller.address : addressOfKey(controller))
    const signDigest = async (digest: Hex) => normalise(await sign(digest))
    return {
      address: () => Promise.resolve(address),
      signDigest,
      signPersonal: (message) => signDigest(personalDigest(message)),
    }
  }
  if ('request' in controller) return walletSigner(controller)
  if ('signMessage' in controller) {
    const { address } = controller
    return {
      address: () => Promise.resolve(checkedAddress(address)),
      signDigest: () => Promise.reject(cannotSign(`the signer of ${address}`)),
      signPersonal: async (message) => normalise(await controller.signMessage(bytesOf(message))),
    }
  }
  throw noController('type' in controller ? ` of type ${String(controller['type'])}` : '')
}

const noController = (what: string) =>
  new TypeError(
    `the controller${what} cannot sign: give a local account of viem, a Wallet of ethers, { address, signDigest } or a wallet (EIP-1193)`,
  )

type SignDigest = (digest: Hex) => Promise<string> | string

/** Tells the kind by the methods that a value has, so that this library imports neither viem nor ethers. */
function digestSigner(controller: Controller): SignDigest | undefined {
  if ('signDigest' in controller) return (digest) => controller.signDigest(digest)
  if ('signingKey' in controller) return (digest) => controller.signingKey.sign(digest).serialized
  if (isSigningKey(controller)) return (digest) => controller.sign(digest).serialized
  if ('sign' in controller)
    return (hash) => (controller as { sign: (of: { hash: Hex }) => Promise<string> }).sign({ hash })
  return undefined
}

const isSigningKey = (controller: Controller): controller is SigningKey & { readonly publicKey: string } =>
  'publicKey' in controller && 'sign' in controller && !('address' in controller)

function addressOfKey(controller: Controller): string {
  return 'publicKey' in controller ? addressOf(controller.publicKey) : ''
}

function walletSigner(wallet: Eip1193Provider): Signer {
  const address = async () => {
    const [first] = (await wallet.request({ method: 'eth_requestAccounts' })) as string[]
    return checkedAddress(first)
  }
  return {
    address,
    signDigest: () => Promise.reject(cannotSign(nameOf(wallet))),
    signPersonal: async (message) => {
      const signature = await wallet.request({ method: 'personal_sign', params: [message, await address()] })
      return normalise(String(signature))
    },
  }
}

/**
 * Name of a wallet. Wallets have a flag such as `isMetaMask`, and some have the flag of another wallet beside their
 * own.
 */
function nameOf(wallet: Eip1193Provider): string {
  const flags = Object.entries(wallet).flatMap(([key, value]) =>
    value === true ? (/^is([A-Z].*)$/.exec(key)?.[1] ?? []) : [],
  )
  const name =
    flags.find((flag) => !/^(?:MetaMask|Connected|Unlocked)$/.test(flag)) ?? flags.find((flag) => flag === 'MetaMask')
  return name === undefined ? 'the wallet' : `the wallet ${name}`
}

function cannotSign(controller: string): RelayError {
  const reason =
    'a relay call is signed as a digest of 32 bytes without a prefix (LSP25), and personal_sign and eth_signTypedData put one before it'
  const advice =
    'give a controller with a key at hand (a local account of viem, a Wallet of ethers) or one with signDigest'
  return new RelayError('CANNOT_SIGN', `${controller} cannot sign relay calls: ${reason}; ${advice}`, {
    details: { controller },
    broadcast: false,
  })
}

function checkedAddress(address: unknown): Hex {
  if (isAddress(address)) return address
  throw new TypeError("the controller's address is none, or its checksum is wrong")
}

/** Writes v as 27 or 28, which the key manager requires: some signers write 0 or 1. @throws TypeError not 65 bytes */
function normalise(signature: string): Hex {
  if (!isHex(signature) || signature.length !== 132) {
    throw new TypeError(`the controller's signature has not 65 bytes: ${signature}`)
  }
  const v = Number.parseInt(signature.slice(130), 16)
  return v < 27 ? `0x${signature.slice(2, 130)}${(v + 27).toString(16)}` : signature
}

const bytesOf = (hex: Hex) => Uint8Array.from(hex.slice(2).match(/../g) ?? [], (byte) => Number.parseInt(byte, 16))
