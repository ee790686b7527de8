import type { Logger } from 'pino'
import type { Registry } from 'prom-client'
import { shared } from '../concurrency/shared.ts'
import type { Route } from './route.ts'

/** Checks one thing that the server cannot work without. */
export interface ReadinessCheck {
  readonly name: string
  /**
   * @returns `degraded` when a part of it is unavailable and the rest does the work
   * @throws when it is not there; the reason is logged, not shown
   */
  readonly check: () => Promise<void | 'ok' | 'degraded'>
}

/** The body of `/readyz`. */
interface Readiness {
  readonly ready: boolean
  /** Set while the server stops; no check was made. */
  readonly draining?: true
  readonly checks: Readonly<Record<string, 'ok' | 'degraded' | 'failed'>>
}

/** Requests for `/readyz` are not limited, so their findings are reused for this time, in milliseconds. */
const READINESS_KEPT_MS = 20

/** How long a check may take before it counts as failed, in milliseconds. */
const checkTimeoutMs = 3000

/** The outcome of each check, in the order of the checks. */
export type Findings = readonly (readonly [name: string, outcome: Readiness['checks'][string]])[]

/** Makes all checks at the same time. A failure is logged; a check that takes too long has failed. */
export function createReadinessLook(checks: readonly ReadinessCheck[]): (log: Logger) => Promise<Findings> {
  return shared(READINESS_KEPT_MS, (log: Logger) =>
    Promise.all(
      checks.map(async ({ name, check }) => {
        try {
          return [name, (await withTimeout(check(), checkTimeoutMs)) ?? 'ok'] as const
        } catch (err) {
          log.warn({ err, check: name }, 'not ready')
          return [name, 'failed'] as const
        }
      }),
    ),
  )
}

/**
 * `GET /healthz`: the process answers. `GET /readyz`: it can do its work (200), or it cannot and says what is missing
 * (503); while it drains it is not ready, so that a load balancer moves on.
 */
export function healthRoutes(look: (log: Logger) => Promise<Findings>, isDraining: () => boolean): Route[] {
  return [
    {
      method: 'GET',
      path: '/healthz',
      isUncounted: true,
      isProbe: true,
      handle: (ctx) => {
        ctx.body = { status: 'ok' }
      },
    },
    {
      method: 'GET',
      path: '/readyz',
      isUncounted: true,
      isProbe: true,
      handle: async (ctx) => {
        // A load balancer must learn this at once, so no check is begun, and none that is under way says otherwise.
        const outcomes = isDraining() ? [] : await look(ctx.state.log)
        if (isDraining()) {
          ctx.status = 503
          ctx.body = { ready: false, draining: true, checks: {} } satisfies Readiness
          return
        }
        const ready = outcomes.every(([, outcome]) => outcome !== 'failed')
        ctx.status = ready ? 200 : 503
        if (!ready) ctx.set('Retry-After', '1')
        ctx.body = { ready, checks: Object.fromEntries(outcomes) } satisfies Readiness
      },
    },
  ]
}

async function withTimeout<Result>(work: Promise<Result>, timeoutMs: number): Promise<Result> {
  const { promise: tooLate, reject } = Promise.withResolvers<never>()
  const timer = setTimeout(() => reject(new Error(`no answer within ${timeoutMs} ms`)), timeoutMs)
  try {
    return await Promise.race([work, tooLate])
  } finally {
    clearTimeout(timer)
  }
}

/** For this time, in milliseconds, everybody who asks gets the same answer. */
const METRICS_KEPT_MS = 500

/**
 * `GET /metrics` in the Prometheus text format.
 *
 * @param readMetrics reads those of all workers; absent: this process is alone
 */
export function metricsRoute(registry: Registry, readMetrics = () => registry.metrics()): Route {
  // Some metrics are read from the database.
  const read = shared(METRICS_KEPT_MS, async () => Buffer.from(await readMetrics()))
  return {
    method: 'GET',
    path: '/metrics',
    handle: async (ctx) => {
      ctx.type = registry.contentType
      ctx.body = await read()
    },
  }
}
