import { getAddress } from 'ethers'
import { Reader } from './contracts.ts'
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
  keccak,
  MalformedSignatureError,
  recoverSigner,
  type Signature,
} from './signature.ts'

/** One usual mistake in signing, and who signed if it was made. */
export interface Misreading {
  /** What the client did, in words for its developer. */
  readonly mistake: string
  /** Checksummed address. */
  readonly signer: string
}

/** Chains whose ids clients mix up with this one's: LUKSO's main and test net, Ethereum's main net, local nodes. */
const otherChainIds = [42n, 4201n, 1n, 31337n, 1337n]

/** What somebody did who put the address of a controller where that of the profile belongs. */
export const ownAddressMistake = 'the address is that of the signer: it must be that of the profile'

/**
 * Reads a signature as if one of the usual mistakes had been made. A wrong digest recovers a signer that nobody knows,
 * and on the chain that looks like a wrong nonce; naming the mistake spares the client's developer a search.
 *
 * @param message with the profile that the request names
 * @param form the right one
 */
export function misreadings(
  message: RelayMessage & { readonly profile: string },
  form: DigestForm,
  signature: Signature,
): Misreading[] {
  const digest = relayDigest(message, form)
  const words = relayWords(message, form)
  const candidates: [string, () => Uint8Array][] = [
    ['the digest was signed as a personal message (EIP-191 0x45) instead of raw', () => personalDigest(digest)],
    [
      'the digest was signed as the text of its hex digits instead of raw',
      () => personalDigest(Buffer.from(toHex(digest))),
    ],
    [
      'the message was signed for the address of the profile instead of that of its key manager',
      () => relayDigest({ ...message, keyManager: message.profile }, form),
    ],
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
    ...amountsIn(message.payload).map((valueWei): [string, () => Uint8Array] => [
      `the message was signed with a value (msgValue) of ${valueWei} wei instead of 0: a relay sends no value, the ` +
        'amount stands in the payload alone',
      () => relayDigest({ ...message, valueWei }, form),
    ]),
  ]
  return signersOf(candidates, signature)
}

/** ERC-725X: `execute(uint256,address,uint256,bytes)` and `executeBatch(uint256[],address[],uint256[],bytes[])`. */
const EXECUTE = '0x44c028fe'
const EXECUTE_BATCH = '0x31858452'
/** The most amounts that are read of a batch: each costs a recovery. */
const MOST_AMOUNTS = 8

/** The amounts, in wei and above 0, that a payload sends: what a client may have signed as the value of the call. */
function amountsIn(anyCase: string): bigint[] {
  const payload = anyCase.toLowerCase()
  const reader = new Reader(`0x${payload.slice(10)}`)
  try {
    const amounts: bigint[] = []
    if (payload.startsWith(EXECUTE)) amounts.push(reader.bigint(64))
    if (payload.startsWith(EXECUTE_BATCH)) {
      const list = reader.number(64)
      const length = Math.min(reader.number(list), MOST_AMOUNTS)
      const each = Array.from({ length }, (_, index) => reader.bigint(list + 32 * (index + 1)))
      amounts.push(
        each.reduce((sum, amount) => sum + amount, 0n),
        ...each,
      )
    }
    return [...new Set(amounts)].filter((amount) => amount > 0n && amount < 1n << 256n)
  } catch (error) {
    // The payload ends before its arguments do: it sends nothing.
    if (error instanceof RangeError) return []
    throw error
  }
}

/** A quota request, and what is known of its profile. */
export interface QuotaSigned {
  /** Of the profile, as the request spells it. */
  readonly address: string
  readonly timestampSeconds: number
  /** Of the profile's chain. Absent: unknown, so that only typed data without a chain are read. */
  readonly chainId?: bigint
  /** Addresses of the profile's controllers: one of them may have signed for its own address. */
  readonly controllers?: readonly string[]
}

/** Reads the signature of a quota request as if one of the usual mistakes had been made. */
export function quotaMisreadings(request: QuotaSigned, signature: Signature): Misreading[] {
  const { address, timestampSeconds, controllers = [] } = request
  const hash = quotaMessage(address, timestampSeconds)
  const packed = Buffer.concat([hexBytes(address), word(BigInt(timestampSeconds))])
  const wanted = 'instead of the hash of the packed address and timestamp, as 32 bytes'
  const readings = signersOf(
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
      ...typedDigests(request).map((read): [string, () => Uint8Array] => [
        'typed data (EIP-712) were signed instead of a personal message (EIP-191 0x45) over the hash',
        read,
      ]),
    ],
    signature,
  )
  const forItself = controllers.flatMap((controller) =>
    signersOf(
      [
        [
          'what was signed has the address of the controller: it must have that of the profile',
          () => personalDigest(quotaMessage(controller, timestampSeconds)),
        ],
      ],
      signature,
    ).filter(({ signer }) => signer.toLowerCase() === controller.toLowerCase()),
  )
  return [...readings, ...forItself]
}

/** No text says what typed data would be signed. These are the names and domains that suggest themselves (EIP-712). */
function typedDigests({ address, timestampSeconds, chainId }: QuotaSigned): (() => Uint8Array)[] {
  const hashOf = (text: string, ...words: readonly Uint8Array[]) => keccak(keccak(Buffer.from(text)), ...words)
  const profile = word(BigInt(address))
  const domains = [
    () => hashOf('EIP712Domain()'),
    () => hashOf('EIP712Domain(address verifyingContract)', profile),
    ...(chainId === undefined
      ? []
      : [
          () => hashOf('EIP712Domain(uint256 chainId)', word(chainId)),
          () => hashOf('EIP712Domain(uint256 chainId,address verifyingContract)', word(chainId), profile),
        ]),
  ]
  return ['Quota', 'QuotaRequest', 'Message'].flatMap((name) => {
    const message = () => hashOf(`${name}(address address,uint256 timestamp)`, profile, word(BigInt(timestampSeconds)))
    return domains.map((domain) => () => keccak(Buffer.from('1901', 'hex'), domain(), message()))
  })
}

/** The signers, if the text `<address>:<timestamp>` was signed: one for each spelling of the address that gives a signer. */
export function quotaTextSigners(address: string, timestampSeconds: number, signature: Signature): string[] {
  const readings = textDigests(address, timestampSeconds).map((digest) => ['text', () => digest] as const)
  return signersOf(readings, signature).map(({ signer }) => signer)
}

function textDigests(address: string, timestampSeconds: number): Uint8Array[] {
  const spellings = new Set([address, address.toLowerCase(), getAddress(address.toLowerCase())])
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
