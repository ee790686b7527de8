import { ServiceError } from '../../core/errors.ts'

/** By class of SQLSTATE: connection, resources (a full disk), operator intervention, system, damaged data. */
const CLASSES: ReadonlySet<string> = new Set(['08', '53', '57', '58'])
const CODES: ReadonlySet<string> = new Set(['25006', '55P03', 'XX001', 'XX002'])

/**
 * Recognises the errors in which PostgreSQL speaks of itself and not of a statement: it is full, read-only, stopping or
 * damaged.
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

/** Unique violation, deadlock, serialisation failure: another transaction was faster, so a second try is right. */
const conflicts: ReadonlySet<unknown> = new Set(['23505', '40P01', '40001'])
const MAX_TRIES = 5

/**
 * Runs a database transaction again when it lost against another one.
 *
 * @param work gets the number of the try, from 1
 */
export async function retryOnConflict<Result>(work: (tries: number) => Promise<Result>): Promise<Result> {
  for (let tries = 1; ; tries++) {
    try {
      return await work(tries)
    } catch (error) {
      if (tries >= MAX_TRIES || !conflicts.has((error as { code?: unknown }).code)) throw error
    }
  }
}
