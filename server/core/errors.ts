import { errorCatalogue, type ErrorCode } from '../../specs/index.ts'

export interface ServiceErrorOptions extends ErrorOptions {
  /** Machine-readable facts: field names, expected values, decoded contract errors. Never secrets. */
  readonly details?: Readonly<Record<string, unknown>>
  /** Whether a transaction was sent before the failure; a client must not fall back if so. */
  readonly broadcast?: boolean
  /** Seconds after which trying again makes sense (`Retry-After`). */
  readonly retryAfterSeconds?: number
}

/**
 * The one error that reaches a caller: a row of `specs/errors.json` with its arguments.
 *
 * @example throw new ServiceError('NONCE_GAP', 'expected nonce 5, got 7', { details: { expectedNonce: '5' } })
 */
export class ServiceError extends Error {
  readonly code: ErrorCode
  readonly details: Readonly<Record<string, unknown>>
  readonly broadcast: boolean
  readonly retryAfterSeconds: number | undefined

  constructor(code: ErrorCode, reason: string, options: ServiceErrorOptions = {}) {
    super(errorCatalogue[code].message.replace('{reason}', reason), options)
    this.name = 'ServiceError'
    this.code = code
    this.details = options.details ?? {}
    this.broadcast = options.broadcast ?? false
    this.retryAfterSeconds = options.retryAfterSeconds
  }
}
