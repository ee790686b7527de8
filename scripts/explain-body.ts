import type { ExecuteRequest, QuotaRequest } from '../specs/index.ts'
import { ServiceError } from '../server/core/errors.ts'
import { validatorOf } from '../server/core/validate.ts'
import {
  lsp25Form,
  personalDigest,
  quotaMessage,
  relayDigest,
  MalformedSignatureError,
  parseSignature,
  recoverSigner,
  type Signature,
} from '../server/ethereum/signature.ts'
import { misreadings, ownAddressMistake, quotaMisreadings, type Misreading } from '../server/ethereum/misreadings.ts'
import { assertValid, parseBody } from '../server/http/body.ts'

/** What is known of the profile beside the body. */
export interface KnownOfProfile {
  readonly chainId?: bigint
  readonly keyManager?: string
  /** Names of the addresses that may have signed, by address in lower case. */
  readonly controllers: ReadonlyMap<string, string>
}

export interface BodyDiagnosis {
  readonly endpoint: 'POST /execute' | 'POST /quota'
  /** What the body says, each with its label. */
  readonly facts: readonly (readonly [label: string, text: string])[]
  /** Why a relay refuses it. None: nothing was found. */
  readonly mistakes: readonly string[]
}

const TIME_MASK = (1n << 128n) - 1n
/** Beyond this, a timestamp is in milliseconds. */
const LATEST_SECONDS = 1e11

/**
 * Says without any network what is wrong with a request body: its form, as the reference server validates it, and its
 * signature, read as if each of the usual mistakes had been made.
 */
export function explainBody(bytes: Uint8Array, known: KnownOfProfile): BodyDiagnosis {
  let endpoint: BodyDiagnosis['endpoint'] = 'POST /execute'
  const facts: [string, string][] = []
  try {
    const body = parseBody(bytes) as Readonly<Record<string, unknown>> | null
    if (typeof body === 'object' && body !== null && 'timestamp' in body) endpoint = 'POST /quota'
    const schema = endpoint === 'POST /quota' ? 'quota/quota' : 'relay/execute'
    assertValid(body, validatorOf('all-errors').compileKey(schema, 'request'))
    const mistakes =
      endpoint === 'POST /quota'
        ? explainQuota(body as unknown as QuotaRequest, known, facts)
        : explainExecute(body as unknown as ExecuteRequest, known, facts)
    return { endpoint, facts, mistakes }
  } catch (error) {
    if (error instanceof MalformedSignatureError) return { endpoint, facts, mistakes: [error.message] }
    if (!(error instanceof ServiceError)) throw error
    const fields = error.details['fields'] as { field: string; problem: string }[] | undefined
    const mistakes = fields?.map(({ field, problem }) => `${field} ${problem}`) ?? [error.message]
    return { endpoint, facts, mistakes }
  }
}

function explainExecute(
  { address, transaction }: ExecuteRequest,
  known: KnownOfProfile,
  facts: [string, string][],
): string[] {
  const [nonce, validityTimestamps] = [BigInt(transaction.nonce), BigInt(transaction.validityTimestamps ?? 0)]
  facts.push(
    ['profile', address],
    ['payload', `${transaction.abi.slice(0, 10)}…, ${transaction.abi.length / 2 - 1} bytes`],
    ['nonce', `channel ${nonce >> 128n}, number ${nonce & TIME_MASK}`],
    ['validity', validityTimestamps === 0n ? 'always' : windowOf(validityTimestamps)],
  )
  const signature = parseSignature(transaction.signature)
  const { chainId, keyManager } = known
  if (chainId === undefined || keyManager === undefined) {
    facts.push(['signature', 'not read: give --fixture, or --key-manager, --chain-id and --controller'])
    return []
  }
  const message = { keyManager, chainId, nonce, validityTimestamps, payload: transaction.abi }
  return explainSigner(known, facts, {
    address,
    signature,
    digest: relayDigest(message, lsp25Form),
    readings: () => misreadings({ ...message, profile: address }, lsp25Form, signature),
  })
}

function windowOf(validityTimestamps: bigint): string {
  const time = (seconds: bigint) =>
    seconds < BigInt(LATEST_SECONDS) ? new Date(Number(seconds) * 1000).toISOString() : `${seconds} seconds`
  const [start, end] = [validityTimestamps >> 128n, validityTimestamps & TIME_MASK]
  return `from ${time(start)}${end === 0n ? ' on' : ` to ${time(end)}`}`
}

function explainQuota(
  { address, timestamp, signature: hex }: QuotaRequest,
  known: KnownOfProfile,
  facts: [string, string][],
): string[] {
  facts.push(['profile', address])
  if (timestamp > LATEST_SECONDS) return [`timestamp ${timestamp} looks like milliseconds: it must be in seconds`]
  facts.push(['timestamp', `${new Date(timestamp * 1000).toISOString()}; a relay takes it for some seconds`])
  const signature = parseSignature(hex)
  const { chainId } = known
  const request = { address, timestampSeconds: timestamp, controllers: [...known.controllers.keys()] }
  return explainSigner(known, facts, {
    address,
    signature,
    digest: personalDigest(quotaMessage(address, timestamp)),
    readings: () => quotaMisreadings({ ...request, ...(chainId !== undefined && { chainId }) }, signature),
  })
}

/** Finds out who signed. @returns the mistakes, of which there is one at most */
function explainSigner(
  { controllers }: KnownOfProfile,
  facts: [string, string][],
  signed: {
    readonly address: string
    readonly signature: Signature
    readonly digest: Uint8Array
    readonly readings: () => readonly Misreading[]
  },
): string[] {
  const signer = recoverSigner(signed.digest, signed.signature)
  const nameOf = (address: string) => controllers.get(address.toLowerCase())
  const name = nameOf(signer)
  facts.push(['signer', name === undefined ? signer : `${signer} (${name})`])
  if (signer.toLowerCase() === signed.address.toLowerCase()) return [ownAddressMistake]
  if (name !== undefined || controllers.size === 0) return []
  const likely = signed.readings().find((reading) => nameOf(reading.signer) !== undefined)
  return likely
    ? [`${likely.mistake}; it was signed by ${likely.signer} (${nameOf(likely.signer)})`]
    : [`the signer ${signer} is none of the given controllers, and no usual mistake explains it`]
}
