import type { Middleware } from 'koa'
import { Counter, Histogram, type Registry } from 'prom-client'
import type { Route } from './route.ts'

type Labels = { route: string; method: string; status: string }

/** Counts answers and how long they took, by route, verb and status; unknown paths are one route. */
export interface RequestMeter {
  answered(route: string | undefined, method: string, status: number, durationMs: number): void
}

export function createRequestMeter(registry: Registry): RequestMeter {
  const labelNames = ['route', 'method', 'status'] as const
  const answered = new Map<string, { readonly labels: Labels; count: number }>()
  new Counter({
    name: 'touchstone_http_requests_total',
    help: 'HTTP requests answered.',
    labelNames,
    registers: [registry],
    // Summed up when somebody looks: the counter takes longer than adding one.
    collect() {
      this.reset()
      for (const { labels, count } of answered.values()) this.inc(labels, count)
    },
  })
  const latency = new Histogram({
    name: 'touchstone_http_request_duration_seconds',
    help: 'Time from the request line to the answer.',
    labelNames,
    buckets: [0.001, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10],
    registers: [registry],
  })
  return {
    answered: (route = 'other', method, status, durationMs) => {
      const key = `${status} ${method} ${route}`
      let series = answered.get(key)
      if (series === undefined) {
        series = { labels: { route, method, status: String(status) }, count: 0 }
        answered.set(key, series)
      }
      series.count++
      latency.observe(series.labels, durationMs / 1000)
    },
  }
}

/** Tells the meter of every answer of the app. */
export function meterRequests(meter: RequestMeter): Middleware {
  return async (ctx, next) => {
    const begunMs = performance.now()
    try {
      await next()
    } finally {
      meter.answered(ctx.state.route, ctx.method, ctx.status, performance.now() - begunMs)
    }
  }
}

/** `GET /metrics` in the Prometheus text format. */
export function metricsRoute(registry: Registry): Route {
  return {
    method: 'GET',
    path: '/metrics',
    handle: async (ctx) => {
      ctx.type = registry.contentType
      ctx.body = await registry.metrics()
    },
  }
}
