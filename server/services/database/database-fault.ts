import { ServiceError } from '../../core/errors.ts'

/** By class of SQLSTATE: connection, resources (a full disk), operator intervention, system, damaged data. */
const CLASSES: ReadonlySet<string> = new Set(['08', '53', '57', '58'])
const CODES: ReadonlySet<string> = new Set(['25006', '55P03', 'XX001', 'XX002'])

/**
 * What PostgreSQL says of itself, and not of our statements: it is full, read-only, stops, or is damaged.
 *
 * @returns UPSTREAM_UNAVAILABLE; undefined for every other error
 */
export function databaseFault(error: unknown): ServiceError | undefined {
  for (let cause = error; cause instanceof Error; cause = cause.cause) {
    const { code, severity } = cause as { code?: unknown; severity?: unknown }
    if (typeof severity !== 'string' || typeof code !== 'string') continue
    if (!CLASSES.has(code.slice(0, 2)) && !CODES.has(code)) return undefined
    return new ServiceError('UPSTREAM_UNAVAILABLE', 'the database does not work', { cause: error })
  }
  return undefined
}
