import {
  AbiCoder,
  concat,
  getAddress,
  getBytes,
  hashMessage,
  Interface,
  keccak256,
  recoverAddress,
  solidityPackedKeccak256,
  toBeHex,
} from 'ethers'
import type { ChainTruth } from '../lib/chain-truth.ts'
import { readData, readNonce, readOwner } from '../lib/relay/contracts.ts'
import { olderDigests, relayDigest, type QuotaReading, type RelayMessage } from '../lib/relay/message.ts'
import type { CallForm } from './requests.ts'
import type { CallFacts, Instead, QuotaFacts } from './recording.ts'

/** `AddressPermissions:Permissions:<address>` (LSP6): the key of a controller's permissions. */
const permissionsPrefix = '0x4b80742de2bf82acb3630000'
/** SIGN (LSP6). */
const signPermission = 0x200000n

/** LUKSO, its testnet, Ethereum, the usual development chains, and none. */
const otherChains = [42n, 4201n, 1n, 31337n, 1337n, 0n]

/** How many nonces after the next one are tried for a number that was rounded. */
const triedNonces = 16n

const executeAbi = new Interface(['function execute(uint256 operation, address to, uint256 value, bytes data)'])

/** A message that may have been signed. Absent `instead`: the message of the documents. */
interface Candidate {
  readonly digest: string
  readonly instead?: Instead
  /** Its name, where it is a message for the quota that relays are known to take. */
  readonly reading?: QuotaReading
}

/** The permissions of an address on the profile; zero: it is no controller. */
async function permissionsOf(chain: ChainTruth, profile: string, address: string): Promise<bigint> {
  const value = await readData(chain, profile, concat([permissionsPrefix, address]))
  return value === '0x' ? 0n : BigInt(value)
}

/** The first candidate whose signer is a controller of the profile. */
async function findSigner(
  chain: ChainTruth,
  { profile, signature, known }: { profile: string; signature: string; known: readonly string[] },
  candidates: Iterable<Candidate>,
) {
  for (const { digest, instead, reading } of candidates) {
    const signer = recover(digest, signature)
    if (signer === undefined) return undefined
    // Of what no relay takes, only those are looked for whom the client was given: a question to the node costs time.
    if (instead && reading === undefined && !known.includes(signer)) continue
    const permissions = await permissionsOf(chain, profile, signer)
    if (permissions !== 0n) return { signer, permissions, ...(instead && { instead }), ...(reading && { reading }) }
  }
  return undefined
}

/** Undefined for what is no signature at all. */
function recover(digest: string, signature: string): string | undefined {
  try {
    return recoverAddress(digest, signature)
  } catch {
    return undefined
  }
}

/** The digest of LSP25, with any value. */
function digestWithValue({ keyManager, chainId, nonce, validityTimestamps, payload }: RelayMessage, value: bigint) {
  const words = [25n, chainId, nonce, validityTimestamps, value].map((word) => toBeHex(word, 32))
  return keccak256(concat(['0x1900', keyManager, ...words, payload]))
}

/** The amount of `execute()` in the payload: what a client that signs a value has most likely signed. */
function amountIn(payload: string): bigint {
  try {
    return BigInt(String(executeAbi.decodeFunctionData('execute', payload)[2]))
  } catch {
    return 0n
  }
}

/** What clients are known to sign, the message of LSP25 first. */
function* callCandidates(message: RelayMessage, { profile, nonces }: { profile: string; nonces: readonly bigint[] }) {
  const of = (clause: Instead['clause'], what: string): { instead: Instead } => ({ instead: { clause, what } })
  const right = relayDigest(message)
  yield { digest: right }
  yield {
    digest: hashMessage(getBytes(right)),
    ...of('client.execute.digest', 'the digest as a personal message (EIP-191)'),
  }
  for (const [name, digestOf] of olderDigests) {
    yield { digest: digestOf(message), ...of('client.execute.digest', `the message of ${name}`) }
  }
  yield {
    digest: relayDigest({ ...message, keyManager: profile }),
    ...of('client.execute.digest', 'a message with the profile in place of its key manager'),
  }
  const amount = amountIn(message.payload)
  if (amount !== 0n) {
    yield {
      digest: digestWithValue(message, amount),
      ...of('client.execute.digest', `a message with the value ${amount}, which is the amount of the payload`),
    }
  }
  if (message.validityTimestamps !== 0n) {
    yield {
      digest: relayDigest({ ...message, validityTimestamps: 0n }),
      ...of('client.execute.digest', 'a message without the validity timestamps of the request'),
    }
  }
  for (const chainId of otherChains) {
    if (chainId === message.chainId) continue
    yield {
      digest: relayDigest({ ...message, chainId }),
      ...of('client.execute.chain-id', `a message for the chain ${chainId}`),
    }
  }
  for (const nonce of nonces) {
    const isRounded = BigInt(Number(nonce)) === BigInt(Number(message.nonce)) && nonce > 2n ** 53n
    const what = `a message with the nonce ${nonce}`
    yield {
      digest: relayDigest({ ...message, nonce }),
      ...of(isRounded ? 'client.execute.nonce-lossless' : 'client.execute.digest', what),
    }
  }
}

/** The nonces that a number may stand for that was rounded, or that was not signed: those near the key manager's. */
async function nearNonces(chain: ChainTruth, keyManager: string, controllers: readonly string[], nonce: bigint) {
  const channel = nonce >> 128n
  if (channel >> 128n !== 0n) return []
  const starts = await Promise.all(controllers.map((address) => readNonce(chain, keyManager, address, channel)))
  const near = starts.flatMap((start) =>
    Array.from({ length: Number(triedNonces) }, (_, index) => start + BigInt(index)),
  )
  const used = starts.flatMap((start) => Array.from({ length: 4 }, (_, index) => start - 1n - BigInt(index)))
  return [...new Set([...near, ...used])].filter((each) => each >= 0n && each !== nonce && each >> 128n === channel)
}

/**
 * What the chain knows about a call: who signed it, over which message, and the nonce that is next.
 *
 * @param controllers addresses that are most likely to have signed
 * @throws Untestable when the node does not answer
 */
export async function factsOfCall(
  chain: ChainTruth,
  form: CallForm,
  controllers: readonly string[],
): Promise<CallFacts> {
  const head = (await chain.send('eth_getBlockByNumber', ['latest', false])) as { timestamp: string }
  const chainSeconds = Number(head.timestamp)
  const { address, payload, signature, nonce, validity } = form
  const keyManager = address === undefined ? undefined : await ownerOf(chain, address)
  if (address === undefined || keyManager === undefined) return { chainSeconds }
  if (payload === undefined || signature === undefined || !nonce || nonce.value >> 256n !== 0n) {
    return { keyManager, chainSeconds }
  }
  const message: RelayMessage = {
    keyManager,
    chainId: chain.chainId,
    nonce: nonce.value,
    validityTimestamps: validity && validity.value >> 256n === 0n ? validity.value : 0n,
    payload,
  }
  const nonces = await nearNonces(chain, keyManager, controllers, nonce.value)
  const found = await findSigner(
    chain,
    { profile: address, signature, known: controllers },
    callCandidates(message, { profile: address, nonces }),
  )
  if (!found) return { keyManager, chainSeconds }
  const { signer, instead } = found
  const nextNonce = await readNonce(chain, keyManager, signer, nonce.value >> 128n)
  return { keyManager, chainSeconds, signer, nextNonce, ...(instead && { instead }) }
}

/** The key manager of a profile; undefined where there is no contract with an owner that is a contract. */
async function ownerOf(chain: ChainTruth, profile: string): Promise<string | undefined> {
  if ((await chain.send('eth_getCode', [profile, 'latest'])) === '0x') return undefined
  // A contract without `owner()` is the client's mistake and no trouble of the node.
  const owner = await readOwner(chain, profile).catch(() => undefined)
  if (owner === undefined || (await chain.send('eth_getCode', [owner, 'latest'])) === '0x') return undefined
  return owner
}

interface QuotaRequestMessage {
  /** In the form of {@link normalHex}. */
  readonly address: string
  /** As the body spells it. */
  readonly spelled: string
  readonly timestamp: bigint
}

/** What clients are known to sign for the quota, the message of the document first. */
function* quotaCandidates(
  { address, spelled, timestamp }: QuotaRequestMessage,
  controllers: readonly string[],
): Generator<Candidate> {
  const of = (clause: Instead['clause'], what: string): { instead: Instead } => ({ instead: { clause, what } })
  const packed = (whose: string, when: bigint) => solidityPackedKeccak256(['address', 'uint256'], [whose, when])
  const personal = (whose: string, when: bigint) => hashMessage(getBytes(packed(whose, when)))
  yield { digest: personal(address, timestamp), reading: 'personal message' }
  yield {
    digest: packed(address, timestamp),
    reading: 'raw digest',
    ...of('client.quota.hash', 'the packed hash, without the personal message'),
  }
  yield {
    digest: hashMessage(packed(address, timestamp)),
    ...of('client.quota.hash', 'the packed hash as a text of hex digits'),
  }
  const encoded = keccak256(AbiCoder.defaultAbiCoder().encode(['address', 'uint256'], [address, timestamp]))
  yield {
    digest: hashMessage(getBytes(encoded)),
    ...of('client.quota.hash', 'the hash of the ABI encoding, not packed'),
  }
  for (const text of new Set([spelled, getAddress(address), address, ...controllers])) {
    yield {
      ...(text === spelled && { reading: 'text' as const }),
      digest: hashMessage(`${text}:${timestamp}`),
      ...of('client.quota.hash', 'the text <address>:<timestamp> as a personal message'),
    }
  }
  for (const controller of controllers) {
    yield {
      digest: personal(controller, timestamp),
      ...of('client.quota.bound-to-message', `the address of the controller, ${controller}`),
    }
  }
  const others = [
    timestamp * 1000n,
    ...Array.from({ length: 10 }, (_, index) => [-1n, 1n].map((sign) => timestamp + sign * BigInt(index + 1))).flat(),
  ]
  for (const when of others.filter((each) => each >= 0n)) {
    yield { digest: personal(address, when), ...of('client.quota.bound-to-message', `the timestamp ${when}`) }
  }
}

/**
 * What the chain knows about a request for the quota: who signed it, over which message, and whether that is a
 * controller with the SIGN permission.
 *
 * @throws Untestable when the node does not answer
 */
export async function factsOfQuota(
  chain: ChainTruth,
  { signature, ...message }: QuotaRequestMessage & { readonly signature: string },
  controllers: readonly string[],
): Promise<QuotaFacts> {
  const { address, timestamp } = message
  if ((await ownerOf(chain, address)) === undefined || timestamp >> 256n !== 0n) return { holdsSign: false }
  const found = await findSigner(
    chain,
    { profile: address, signature, known: controllers },
    quotaCandidates(message, controllers),
  )
  if (!found) return { holdsSign: false }
  const { permissions, ...facts } = found
  return { ...facts, holdsSign: (permissions & signPermission) !== 0n }
}
