import type { HttpErrorCode } from '../specs/index.ts'
import type { Hex } from './abi.ts'

/** What a relay says about each code, beside the text. Another relay than the reference server may leave members out. */
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
  /** Whom the relay recovers from the signature. */
  readonly signer?: string
  readonly likelyMistake?: string
  readonly controller?: string
}

interface NonceDetails {
  /** In decimal digits. */
  readonly expectedNonce?: string
}

interface RevertDetails {
  /** Name of the contract's error; null: the relay does not know it. */
  readonly error?: string | null
  readonly args?: unknown
  /** What the contract reverted with. */
  readonly data?: string
}

/** What the client itself reports. */
interface ClientDetails {
  /** The answer is not one that the reference server gives: another relay, or something in front of it. */
  UNKNOWN: { readonly text: string }
  /** The call was sent, and no answer came that says what happened. */
  ANSWER_LOST: {
    /**
     * `true`: its nonce is used, by this call unless another client uses the same channel, and the transaction is not
     * found. `false`: not yet. `undefined`: the node does not say.
     */
    readonly isExecuted: boolean | undefined
    readonly nonce: bigint
    /** The signed request. However often it is sent again, the call is executed once. */
    readonly body: string
  }
  /** The controller cannot make the signature that is needed. */
  CANNOT_SIGN: { readonly controller: string }
  /** The node does not answer, or with an error. */
  NODE_FAILED: { readonly method: string; readonly rpcError?: unknown }
  /** A transaction was not mined in time; it may still be. */
  WAIT_TIMED_OUT: { readonly transactionHash: Hex }
}

/** Every code that the relay answers, and those of the client. */
export type RelayErrorCode = HttpErrorCode | keyof ClientDetails

export type RelayErrorDetails<Code extends RelayErrorCode> = Code extends keyof ClientDetails
  ? ClientDetails[Code]
  : Code extends keyof RelayDetails
    ? RelayDetails[Code]
    : Readonly<Record<string, unknown>>

/** What helps against a refusal: nothing, another nonce, or time. */
export type Remedy = 'none' | 'nonce' | 'time'

/** Every code of the catalogue that has an HTTP status, and what the client does about it. */
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

/** What helps against a code; undefined: it is none of the catalogue. */
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

/** The one error of this library. Branch on `code`, or on {@link isRelayError}, which knows the details of each code. */
export class RelayError<Code extends RelayErrorCode = RelayErrorCode> extends Error {
  readonly code: Code
  readonly details: RelayErrorDetails<Code>
  /** HTTP status of the answer, where there was one. */
  readonly status: number | undefined
  /** Whether a transaction was sent. `false` alone allows to send the call in another way; `undefined`: not said. */
  readonly broadcast: boolean | undefined
  /** After which the relay wants to be asked again. */
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
 * Whether something that was thrown is an error of this library; with a code, whether it is that one.
 *
 * @example if (isRelayError(error, 'QUOTA_EXCEEDED')) show(error.details.available)
 */
export function isRelayError<Code extends RelayErrorCode>(thrown: unknown, code?: Code): thrown is RelayError<Code> {
  return thrown instanceof RelayError && (code === undefined || thrown.code === code)
}
