import type { Middleware } from 'koa'
import { Counter, Histogram, type Registry } from 'prom-client'
import { shared } from '../concurrency/shared.ts'
import type { Route } from './route.ts'

/** Counts answers and how long they took, by route, verb and status; unknown paths are one route. */
export interface RequestMeter {
  /** @returns a function that counts one such answer */
  series(route: string | undefined, method: string, status: number): (durationMs: number) => void
}

const BOUNDS_SECONDS = [0.001, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10]

/** @param registry gets the metrics `touchstone_http_requests_total` and `touchstone_http_request_duration_seconds` */
export function createRequestMeter(registry: Registry): RequestMeter {
  const shape = { labelNames: ['route', 'method', 'status'] as const, registers: [registry] }
  const requests = new Counter({ ...shape, name: 'touchstone_http_requests_total', help: 'HTTP requests answered.' })
  const latency = new Histogram({
    ...shape,
    name: 'touchstone_http_request_duration_seconds',
    help: 'Time from the request line to the answer.',
    buckets: BOUNDS_SECONDS,
  })
  // prom-client checks labels each time that it is given some, so each set of them is given once.
  const known = new Map<string, (durationMs: number) => void>()

  return {
    series: (route = 'other', method, status) => {
      const key = `${status} ${method} ${route}`
      const counted = known.get(key)
      if (counted) return counted
      const labels = { route, method, status: String(status) }
      const [answers, seconds] = [requests.labels(labels), latency.labels(labels)]
      const count = (durationMs: number) => {
        answers.inc()
        seconds.observe(durationMs / 1000)
      }
      known.set(key, count)
      return count
    },
  }
}

/** Counts every answer of the app. */
export function meterRequests(meter: RequestMeter): Middleware {
  return async (ctx, next) => {
    const begunMs = performance.now()
    try {
      await next()
    } finally {
      meter.series(ctx.state.route, ctx.method, ctx.status)(performance.now() - begunMs)
    }
  }
}

/** For this time, in milliseconds, everybody who asks gets the same answer. */
const KEPT_MS = 500

/**
 * `GET /metrics` in the Prometheus text format.
 *
 * @param readMetrics reads those of all workers; absent: this process is alone
 */
export function metricsRoute(registry: Registry, readMetrics = () => registry.metrics()): Route {
  // Some metrics are read from the database.
  const read = shared(KEPT_MS, readMetrics)
  return {
    method: 'GET',
    path: '/metrics',
    handle: async (ctx) => {
      ctx.type = registry.contentType
      ctx.body = await read()
    },
  }
}
