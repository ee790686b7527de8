import type { Middleware } from 'koa'
import { Counter, type Histogram, type Registry } from 'prom-client'
import { shared } from '../concurrency/shared.ts'
import type { Route } from './route.ts'

/** Counts answers and how long they took, by route, verb and status; unknown paths are one route. */
export interface RequestMeter {
  /** @returns a function that counts one such answer. It only adds numbers, because every request calls it */
  series(route: string | undefined, method: string, status: number): (durationMs: number) => void
}

interface Series {
  readonly labels: { readonly route: string; readonly method: string; readonly status: string }
  /** Number of answers by the first bound that they kept. The last entry counts those that kept none. */
  readonly buckets: number[]
  seconds: number
  readonly add: (durationMs: number) => void
}

const BOUNDS_SECONDS = [0.001, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10]

/** prom-client's own histogram checks labels at each observation. Here that is done once for each series. */
export function createRequestMeter(registry: Registry): RequestMeter {
  const known = new Map<string, Series>()
  new Counter({
    name: 'touchstone_http_requests_total',
    help: 'HTTP requests answered.',
    labelNames: ['route', 'method', 'status'],
    registers: [registry],
    collect() {
      this.reset()
      for (const { labels, buckets } of known.values()) this.inc(labels, sum(buckets))
    },
  })
  const latency = {
    name: 'touchstone_http_request_duration_seconds',
    help: 'Time from the request line to the answer.',
    type: 'histogram',
    aggregator: 'sum',
  }
  const values = () => [...known.values()].flatMap((series) => histogramOf(latency.name, series))
  const collected = {
    ...latency,
    get: () => Promise.resolve({ ...latency, values: values() }),
    reset: () => known.forEach((series) => Object.assign(series, { seconds: 0 }).buckets.fill(0)),
  }
  // The registry needs no more of a metric; its types name prom-client's own classes only.
  registry.registerMetric(collected as unknown as Histogram)

  return {
    series: (route = 'other', method, status) => {
      const key = `${status} ${method} ${route}`
      const series = known.get(key) ?? createSeries({ route, method, status: String(status) })
      known.set(key, series)
      return series.add
    },
  }
}

function createSeries(labels: Series['labels']): Series {
  const buckets = new Array<number>(BOUNDS_SECONDS.length + 1).fill(0)
  const series: Series = {
    labels,
    buckets,
    seconds: 0,
    add: (durationMs) => {
      const seconds = durationMs / 1000
      let bucket = 0
      while (seconds > (BOUNDS_SECONDS[bucket] ?? Infinity)) bucket++
      buckets[bucket] = (buckets[bucket] ?? 0) + 1
      series.seconds += seconds
    },
  }
  return series
}

/** The series in prom-client's form: each bucket includes the buckets before it. */
function histogramOf(name: string, { labels, buckets, seconds }: Series) {
  const bounds = [...BOUNDS_SECONDS, '+Inf']
  return [
    ...bounds.map((le, index) => ({
      metricName: `${name}_bucket`,
      labels: { le, ...labels },
      value: sum(buckets.slice(0, index + 1)),
    })),
    { metricName: `${name}_sum`, labels, value: seconds },
    { metricName: `${name}_count`, labels, value: sum(buckets) },
  ]
}

const sum = (numbers: readonly number[]) => numbers.reduce((total, number) => total + number, 0)

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

/** `GET /metrics` in the Prometheus text format. */
export function metricsRoute(registry: Registry): Route {
  // Some metrics are read from the database.
  const read = shared(KEPT_MS, () => registry.metrics())
  return {
    method: 'GET',
    path: '/metrics',
    handle: async (ctx) => {
      ctx.type = registry.contentType
      ctx.body = await read()
    },
  }
}
