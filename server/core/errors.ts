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
/**
 * A fault that the operator can mend, such as a database folder without rights, or a ledger of another chain.
 * The message is one line, which names what is wrong. Callers of the service never see it.
 */
export class OperatorError extends Error {
  constructor(message: string, options?: ErrorOptions) {
    super(message.replace(/\s+/g, ' '), options)
    this.name = 'OperatorError'
  }
}
/** A configuration that cannot be used: one line for each fault, naming file (or variable) and member. */
export class ConfigError extends Error {
  readonly lines: readonly string[]

  constructor(lines: readonly string[], options?: ErrorOptions) {
    super(lines.join('\n'), options)
    this.name = 'ConfigError'
    this.lines = lines
  }
}
/** A plugin that cannot be loaded. It stops the start; its message is one line that names the file and the field. */
export class PluginError extends Error {
  readonly file: string
  /** JSON pointer or name of the manifest's field; empty when the module itself is at fault. */
  readonly field: string

  constructor(file: string, field: string, reason: string, options?: ErrorOptions) {
    super([`plugin ${file}`, field, reason].filter(Boolean).join(': ').replace(/\s+/g, ' '), options)
    this.name = 'PluginError'
    this.file = file
    this.field = field
  }
}

const mendable = [ConfigError, PluginError, OperatorError, ServiceError]

/**
 * What the person who starts the server can mend: configuration, plugins, ports, the database, the node.
 *
 * @returns one line for each fault; undefined for a fault of our own
 */
export function startFailure(error: unknown): string | undefined {
  if (!(error instanceof Error)) return undefined
  if (mendable.some((kind) => error instanceof kind)) return error.message
  const code = 'code' in error ? String(error.code) : ''
  switch (code) {
    case 'EADDRINUSE':
    case 'EACCES':
    case 'EADDRNOTAVAIL':
      return `cannot listen: ${error.message}`
    default:
      // What PostgreSQL says by itself: no such database, wrong password, read-only, full.
      return 'severity' in error ? `the database refuses: ${error.message} (${code})` : undefined
  }
}
