import { getAddress } from 'ethers'
import {
  lsp25Form,
  lsp6Form,
  lsp6FormWithoutValidity,
  hexBytes,
  personalDigest,
  quotaMessage,
  relayDigest,
  relayWords,
  toHex,
  word,
  type DigestForm,
  type RelayMessage,
} from './digest.ts'
import { keccak } from './keccak.ts'
import { MalformedSignatureError, recoverSigner, type Signature } from './signature.ts'

/** One usual mistake in signing, and who signed if it was made. */
export interface Misreading {
  /** What the client did, in words for its developer. */
  readonly mistake: string
  /** Checksummed address. */
  readonly signer: string
}

/** Chains whose ids clients mix up with this one's: LUKSO's main and test net, Ethereum's main net, local nodes. */
const otherChainIds = [42n, 4201n, 1n, 31337n, 1337n]

/**
 * Reads a signature as if one of the usual mistakes had been made. A wrong digest recovers a signer that nobody knows,
 * and on the chain that looks like a wrong nonce; naming the mistake spares the client's developer a search.
 *
 * @param form the right one
 */
export function misreadings(message: RelayMessage, form: DigestForm, signature: Signature): Misreading[] {
  const digest = relayDigest(message, form)
  const words = relayWords(message, form)
  const candidates: [string, () => Uint8Array][] = [
    ['the digest was signed as a personal message (EIP-191 0x45) instead of raw', () => personalDigest(digest)],
    ['the key manager is missing from what was signed (ERC-191 version 0)', () => keccak(words)],
    [
      'the key manager is missing from what was signed, and it was signed as a personal message',
      () => personalDigest(keccak(words)),
    ],
    ...[lsp25Form, lsp6Form, lsp6FormWithoutValidity]
      .filter((other) => other.version !== form.version || other.validity !== form.validity)
      .map((other): [string, () => Uint8Array] => [
        `the message was built for version ${other.version} of the key manager` +
          `${other.validity ? '' : ' (without validityTimestamps)'} instead of version ${form.version}`,
        () => relayDigest(message, other),
      ]),
    ...otherChainIds
      .filter((chainId) => chainId !== message.chainId)
      .map((chainId): [string, () => Uint8Array] => [
        `the message was signed for chain ${chainId} instead of chain ${message.chainId}`,
        () => relayDigest({ ...message, chainId }, form),
      ]),
  ]
  return signersOf(candidates, signature)
}

/**
 * Reads the signature of a quota request as if one of the usual mistakes had been made.
 *
 * @param address of the profile, as the request spells it
 */
export function quotaMisreadings(address: string, timestampSeconds: number, signature: Signature): Misreading[] {
  const hash = quotaMessage(address, timestampSeconds)
  const packed = Buffer.concat([hexBytes(address), word(BigInt(timestampSeconds))])
  const wanted = 'instead of the hash of the packed address and timestamp, as 32 bytes'
  return signersOf(
    [
      ...textDigests(address, timestampSeconds).map((digest): [string, () => Uint8Array] => [
        `the text "<address>:<timestamp>" was signed ${wanted}`,
        () => digest,
      ]),
      ['the hash was signed raw instead of as a personal message (EIP-191 0x45)', () => hash],
      [
        'the hash was signed as the text of its hex digits, instead of as 32 bytes',
        () => personalDigest(Buffer.from(toHex(hash))),
      ],
      [
        'the hash was signed as the text of its hex digits without 0x, instead of as 32 bytes',
        () => personalDigest(Buffer.from(toHex(hash).slice(2))),
      ],
      [`the packed bytes themselves were signed ${wanted}`, () => personalDigest(packed)],
      [
        'address and timestamp were encoded by abi.encode (address of 32 bytes) instead of packed',
        () => personalDigest(keccak(word(BigInt(address)), word(BigInt(timestampSeconds)))),
      ],
      [
        'the timestamp was signed in milliseconds and sent in seconds',
        () => personalDigest(quotaMessage(address, timestampSeconds * 1000)),
      ],
    ],
    signature,
  )
}

/** The signers, if the text `<address>:<timestamp>` was signed: one for each spelling of the address that gives a signer. */
export function quotaTextSigners(address: string, timestampSeconds: number, signature: Signature): string[] {
  const readings = textDigests(address, timestampSeconds).map((digest) => ['text', () => digest] as const)
  return signersOf(readings, signature).map(({ signer }) => signer)
}

function textDigests(address: string, timestampSeconds: number): Uint8Array[] {
  const spellings = new Set([address, address.toLowerCase(), getAddress(address)])
  return [...spellings].map((spelt) => personalDigest(Buffer.from(`${spelt}:${timestampSeconds}`)))
}

/** The signer under each reading; a reading that gives no signer is left out. */
function signersOf(readings: readonly (readonly [string, () => Uint8Array])[], signature: Signature): Misreading[] {
  return readings.flatMap(([mistake, read]) => {
    try {
      return [{ mistake, signer: recoverSigner(read(), signature) }]
    } catch (error) {
      if (error instanceof MalformedSignatureError) return []
      throw error
    }
  })
}
