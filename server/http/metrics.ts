import type { Middleware } from 'koa'
import { Counter, Histogram, type Registry } from 'prom-client'
import type { Route } from './route.ts'

type Labels = { route: string; method: string; status: string }

/** Counts requests and measures latencies by route, verb and status; unknown paths are one route. */
export function requestMetrics(registry: Registry): Middleware {
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
  return async (ctx, next) => {
    const begunMs = performance.now()
    try {
      await next()
    } finally {
      const labels = { route: ctx.state.route ?? 'other', method: ctx.method, status: String(ctx.status) }
      const key = `${labels.status} ${labels.method} ${labels.route}`
      const known = answered.get(key)
      if (known) known.count++
      else answered.set(key, { labels, count: 1 })
      latency.observe(labels, (performance.now() - begunMs) / 1000)
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
