import {
  RateLimiterMemory,
  RateLimiterPostgres,
  RateLimiterRes,
  type IRateLimiterOptions,
  type RateLimiterAbstract,
} from 'rate-limiter-flexible'
import { ServiceError } from '../core/errors.ts'
import { openPool, retryOnConflict } from './database/postgres-pool.ts'

export interface RateLimitOptions {
  /** Requests per minute from one address; 0: no limit. */
  readonly requestsPerMinute: number
  /** Relay calls per minute for one profile; 0: no limit. */
  readonly relaysPerMinute: number
  /** The database that several processes count in together; absent: each process counts for itself. */
  readonly databaseUrl?: string
  /** Schema of the database in which the counters lie: each chain has its own. Absent: the default one. */
  readonly schema?: string
}

/** What is left of a limit, for the `RateLimit-…` headers. */
export interface RateLimitState {
  readonly limit: number
  readonly remaining: number
  readonly resetSeconds: number
}

/** Whose requests are counted. */
export type RateLimitSubject = 'address' | 'profile'

export interface RateLimits {
  /** Whether there is a limit for this subject. */
  isLimited(subject: RateLimitSubject): boolean
  /**
   * Counts `points` requests of one address or profile.
   *
   * @returns undefined where there is no limit
   * @throws ServiceError RATE_LIMITED, with the state in `details`
   */
  consume(subject: RateLimitSubject, key: string, points?: number): Promise<RateLimitState | undefined>
  close(): Promise<void>
}

const windowSeconds = 60
/** When the database takes longer, this process counts for itself, so that a request does not wait. In milliseconds. */
const DATABASE_TIMEOUT_MS = 1_000

/** Counts requests by minute. While the database fails, this process counts for itself. */
export async function createRateLimits(options: RateLimitOptions): Promise<RateLimits> {
  const pool =
    options.databaseUrl === undefined
      ? undefined
      : await openPool({
          url: options.databaseUrl,
          max: 2,
          name: 'touchstone rate limits',
          ...(options.schema !== undefined && { schema: options.schema }),
          timeoutMs: DATABASE_TIMEOUT_MS,
        })
  const limiter = async (subject: RateLimitSubject, points: number): Promise<RateLimiterAbstract | undefined> => {
    if (points === 0) return undefined
    const memory = { points, duration: windowSeconds, keyPrefix: `touchstone_${subject}` }
    if (pool === undefined) return new RateLimiterMemory(memory)
    return retryOnConflict(() => openShared(memory, pool))
  }
  const limiters = {
    address: await limiter('address', options.requestsPerMinute),
    profile: await limiter('profile', options.relaysPerMinute),
  }

  return {
    isLimited: (subject) => limiters[subject] !== undefined,
    async consume(subject, key, points = 1) {
      const counter = limiters[subject]
      if (counter === undefined) return undefined
      try {
        return stateOf(counter.points, await counter.consume(key, points))
      } catch (thrown) {
        if (!(thrown instanceof RateLimiterRes)) throw thrown
        const state = stateOf(counter.points, thrown)
        throw new ServiceError('RATE_LIMITED', `${state.limit} a minute for one ${subject}`, {
          details: { ...state },
          retryAfterSeconds: state.resetSeconds,
        })
      }
    },
    close: async () => {
      await pool?.end()
    },
  }
}

/** The limit that all processes count in together. Makes its table where there is none. */
async function openShared(
  memory: IRateLimiterOptions & { readonly points: number },
  pool: Awaited<ReturnType<typeof openPool>>,
): Promise<RateLimiterAbstract> {
  const { promise, resolve, reject } = Promise.withResolvers<void>()
  const shared = new RateLimiterPostgres(
    {
      ...memory,
      storeClient: pool,
      tableName: 'touchstone_rate_limits',
      // A caller over its limit is refused from memory, without asking the database.
      inMemoryBlockOnConsumed: memory.points + 1,
      insuranceLimiter: new RateLimiterMemory(memory),
    },
    (error) => (error ? reject(error) : resolve()),
  )
  await promise
  return shared
}

function stateOf(limit: number, { remainingPoints, msBeforeNext }: RateLimiterRes): RateLimitState {
  return { limit, remaining: Math.max(0, remainingPoints), resetSeconds: Math.max(1, Math.ceil(msBeforeNext / 1000)) }
}
