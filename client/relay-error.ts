import type { HttpErrorCode } from '../specs/index.ts'
import type { Hex } from './encoding.ts'

/** The details of each code. A relay other than the reference server may leave members out. */
interface RelayDetails {
  INVALID_REQUEST: { readonly fields?: readonly { readonly field: string; readonly problem: string }[] }
  INVALID_SIGNATURE: SignerDetails
  STALE_TIMESTAMP: { readonly timestamp?: number; readonly serverTime?: number; readonly windowSeconds?: number }
  NOT_AUTHORISED: RevertDetails & { readonly signer?: string; readonly missingPermission?: string }
  NONCE_USED: NonceDetails
  NONCE_CONFLICT: NonceDetails
  NONCE_GAP: NonceDetails
  PAYLOAD_TOO_LARGE: { readonly transactionBytes?: number; readonly maxTransactionBytes?: number }
  RELAY_CALL_REVERTS: RevertDetails
  EXPIRES_TOO_SOON: {
    readonly validUntil?: string
    readonly chainTime?: string
    readonly minValiditySeconds?: number
  }
  /** Amounts in gas, wei or transactions, in decimal digits. */
  QUOTA_EXCEEDED: { readonly unit?: string; readonly needed?: string; readonly available?: string }
}

interface SignerDetails {
  /** The address that the relay recovers from the signature. */
  readonly signer?: string
  readonly likelyMistake?: string
  readonly controller?: string
}

interface NonceDetails {
  /** In decimal digits. */
  readonly expectedNonce?: string
}

interface RevertDetails {
  /** Name of the contract's error. Null when the relay does not know it. */
  readonly error?: string | null
  readonly args?: unknown
  /** The contract's revert data. */
  readonly data?: string
}

/** The details of errors that the client itself reports. */
interface ClientDetails {
  /** The answer has not the form of the reference server: it comes from another relay, or from a proxy. */
  UNKNOWN: { readonly text: string }
  /** The call was sent, and no answer says what became of it. */
  ANSWER_LOST: {
    /**
     * Whether the call's nonce is used. `true`: by this call, unless another client uses the same channel, but the
     * transaction was not found. `undefined`: the node does not say.
     */
    readonly isExecuted: boolean | undefined
    readonly nonce: bigint
    /** The signed request. However often it is sent again, the call is executed once. */
    readonly body: string
  }
  /** The controller cannot make this kind of signature. */
  CANNOT_SIGN: { readonly controller: string }
  /** The node does not answer, or answers with an error. */
  NODE_FAILED: { readonly method: string; readonly rpcError?: unknown }
  /** A transaction was not mined in time; it may still be. */
  WAIT_TIMED_OUT: { readonly transactionHash: Hex }
}

/** The codes of relays, and those of the client. */
export type RelayErrorCode = HttpErrorCode | keyof ClientDetails

export type RelayErrorDetails<Code extends RelayErrorCode> = Code extends keyof ClientDetails
  ? ClientDetails[Code]
  : Code extends keyof RelayDetails
    ? RelayDetails[Code]
    : Readonly<Record<string, unknown>>

/** What a client can do about a refusal: nothing, use another nonce, or wait. */
export type Remedy = 'none' | 'nonce' | 'time'

/** What the client does about each code of the catalogue that has an HTTP status. */
const remedies = {
  INVALID_REQUEST: 'none',
  INVALID_SIGNATURE: 'none',
  STALE_TIMESTAMP: 'none',
  NOT_AUTHORISED: 'none',
  PROFILE_NOT_REGISTERED: 'none',
  PROFILE_NOT_FOUND: 'none',
  NOT_FOUND: 'none',
  METHOD_NOT_ALLOWED: 'none',
  NONCE_USED: 'nonce',
  NONCE_CONFLICT: 'nonce',
  NONCE_GAP: 'nonce',
  PAYLOAD_TOO_LARGE: 'none',
  UNSUPPORTED_MEDIA_TYPE: 'none',
  RELAY_CALL_REVERTS: 'none',
  EXPIRES_TOO_SOON: 'none',
  QUOTA_EXCEEDED: 'none',
  RATE_LIMITED: 'time',
  INTERNAL: 'none',
  UPSTREAM_UNAVAILABLE: 'time',
  SIGNERS_UNAVAILABLE: 'time',
} as const satisfies Readonly<Record<HttpErrorCode, Remedy>>

/** What the client can do about a code. Undefined when the catalogue does not have it. */
export const remedyOf = (code: unknown): Remedy | undefined => (isKnownCode(code) ? remedies[code] : undefined)

/** Whether a relay may answer the code. */
export const isKnownCode = (code: unknown): code is HttpErrorCode =>
  typeof code === 'string' && Object.hasOwn(remedies, code)

/** The codes of the catalogue that a relay may answer. */
export const knownCodes = Object.keys(remedies) as readonly HttpErrorCode[]

export interface RelayErrorOptions<Code extends RelayErrorCode> extends ErrorOptions {
  readonly details: RelayErrorDetails<Code>
  readonly status?: number | undefined
  readonly broadcast?: boolean | undefined
  readonly retryAfterSeconds?: number | undefined
}

/**
 * The one error of this library. Branch on `code`, or on {@link isRelayError}, which knows the details of each code.
 */
export class RelayError<Code extends RelayErrorCode = RelayErrorCode> extends Error {
  readonly code: Code
  readonly details: RelayErrorDetails<Code>
  /** HTTP status of the answer, where there was one. */
  readonly status: number | undefined
  /**
   * Whether a transaction was sent. Send the call in another way only when this is `false`. `undefined`: the relay does
   * not say.
   */
  readonly broadcast: boolean | undefined
  /** Seconds after which the relay asks for another attempt. */
  readonly retryAfterSeconds: number | undefined

  constructor(code: Code, message: string, options: RelayErrorOptions<Code>) {
    super(message, options)
    this.name = 'RelayError'
    this.code = code
    this.details = options.details
    this.status = options.status
    this.broadcast = options.broadcast
    this.retryAfterSeconds = options.retryAfterSeconds
  }
}

/**
 * Whether a thrown value is an error of this library, and has this code if one is given.
 *
 * @example if (isRelayError(error, 'QUOTA_EXCEEDED')) show(error.details.available)
 */
export function isRelayError<Code extends RelayErrorCode>(thrown: unknown, code?: Code): thrown is RelayError<Code> {
  return thrown instanceof RelayError && (code === undefined || thrown.code === code)
}

/** What was thrown, in words. Wallets throw plain objects as well: `{ code: 4001, message }`. */
export function messageOf(thrown: unknown): string {
  const { message, cause } = Object(thrown) as { readonly message?: unknown; readonly cause?: unknown }
  const text = typeof message === 'string' ? message : String(thrown)
  if (text !== 'fetch failed') return text
  // Node's `fetch` gives the reason in the cause alone; of a host with two addresses, by its code.
  const { code, message: reason } = Object(cause) as { readonly code?: string; readonly message?: string }
  return `${text}: ${reason || code}`
}
