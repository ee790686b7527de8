import type { RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Middleware } from 'koa'
import type { Logger } from 'pino'
import { collectDefaultMetrics, Registry as MetricsRegistry } from 'prom-client'
import { createApp } from './app.ts'
import type { Config } from '../specs/index.ts'
import type { LoadedConfig } from './config/load.ts'
import { servicesFor, type Registry } from './core/registry.ts'
import { loadPlugins } from './load-plugins.ts'
import type { Services } from './core/define.ts'
import { docsRoutes, type Samples } from './http/docs/routes.ts'
import { executeAnswers, transactionRoute } from './http/execute.ts'
import { createFastLane, type Answer } from './http/fast-lane.ts'
import { createReadinessLook, healthRoutes, metricsRoute } from './http/health.ts'
import { createHttpServer } from './http/http-server.ts'
import { callsPerCaller } from './http/calls-per-caller.ts'
import { jsonRpcEndpoint } from './http/json-rpc.ts'
import { createRequestMeter, meterRequests } from './telemetry/metrics.ts'
import { QUOTA_PATH, quotaAnswer } from './http/quota.ts'
import { countBytes, countRequests } from './http/rate-limit.ts'
import type { Route } from './http/route.ts'
import { createServiceStatus, statusRoute } from './http/status-page.ts'
import { createLog } from './telemetry/create-log.ts'
import { traceRequests } from './telemetry/traces.ts'
import { systemClock, type Clock } from './services/clock.ts'
import { composeServices, type Composed } from './compose.ts'
import { createRateLimits, type RateLimits } from './services/rate-limits.ts'
import type { Tracing } from './telemetry/tracing.ts'

/** Time for closing the database after the configured time is over, in milliseconds. */
const LAST_MS = 2_000

export interface StartOptions {
  readonly clock?: Clock
  readonly log?: Logger
  /** Absent: no traces are recorded. The caller closes it after the server. */
  readonly tracing?: Tracing | undefined
  /** For one of several workers: how the metrics of all are read, given its own. */
  readonly metricsOfAll?: (own: MetricsRegistry) => () => Promise<string>
  /** Runs around every request, and sees each answer as it leaves. */
  readonly middleware?: readonly Middleware[]
  /** Served beside the server's own routes. */
  readonly routes?: readonly Route[]
  /** Signed requests for the visitors of `/docs`. */
  readonly samples?: Samples
}

export interface RunningServer {
  /** Base URL, without a trailing slash. */
  readonly url: string
  /**
   * Drains, answers what is in flight, hands back the jobs, closes everything. What has not ended after
   * `shutdown.drainSeconds` and `shutdown.graceSeconds` is given up. May be called twice.
   */
  close(): Promise<void>
}

/**
 * Starts the reference server.
 *
 * @throws PluginError a plugin is broken
 * @throws ConfigError a secret cannot be used
 * @throws Error with code EADDRINUSE
 */
export async function startServer(loaded: LoadedConfig, options: StartOptions = {}): Promise<RunningServer> {
  const { config, secrets } = loaded
  const { clock = systemClock, log = createLog(config.log.level), tracing } = options
  const registry = await loadPlugins(loaded)
  const metrics = new MetricsRegistry()
  collectDefaultMetrics({ register: metrics })
  const composed = await composeServices({ config, secrets, registry, clock, log, metrics, tracing })
  const rateLimits = await createRateLimits({
    ...config.limits,
    schema: composed.database.schema,
    ...(secrets.databaseUrl === undefined ? {} : { databaseUrl: secrets.databaseUrl }),
  }).catch(async (error: unknown) => {
    await composed.close()
    throw error
  })
  const close = async (): Promise<void> => {
    await rateLimits.close()
    await composed.close()
  }
  const http = createHttpServer(config)
  let address: AddressInfo
  try {
    const isDraining = () => http.isDraining()
    const listener = createListener({ ...options, config, log, registry, metrics, composed, rateLimits, isDraining })
    address = await http.listen(config.listen, listener)
  } catch (error) {
    await close()
    throw error
  }

  const stop = async (): Promise<void> => {
    const { drainSeconds, graceSeconds } = config.shutdown
    log.info({ drainSeconds }, 'stopping')
    const endMs = performance.now() + (drainSeconds + graceSeconds) * 1000
    await http.stop()
    const closed = close()
    if (await endsWithin(closed, endMs - performance.now())) return
    log.warn('a node or the database does not answer: what is stored and not sent is left for the next start')
    await composed.giveUp()
    await endsWithin(closed, LAST_MS)
  }
  let stopped: Promise<void> | undefined
  return { url: urlOf(address), close: () => (stopped ??= stop()) }
}

interface ListenerParts extends Pick<StartOptions, 'tracing' | 'middleware' | 'routes' | 'samples' | 'metricsOfAll'> {
  readonly config: Config
  readonly log: Logger
  readonly registry: Registry
  readonly metrics: MetricsRegistry
  readonly composed: Composed
  readonly rateLimits: RateLimits
  readonly isDraining: () => boolean
}

/**
 * Puts all routes together. Those that are asked most go through the fast lane, unless somebody has to see all
 * requests.
 */
function createListener(parts: ListenerParts): RequestListener {
  const { config, log, registry, metrics, composed, rateLimits, tracing, middleware = [] } = parts
  const { services, readinessChecks, signers, plans } = composed
  const meter = createRequestMeter(metrics)
  const relayOptions = { registry, services, limits: config.limits, rateLimits }
  const answers = new Map([
    ['/api/eth-rpc', rpcAnswer(registry, services, { ...config, rateLimits, tracing })],
    [QUOTA_PATH, quotaAnswer({ ...relayOptions, ...config.quota })],
    ...executeAnswers(relayOptions),
  ])
  const lane = createFastLane({ answers, log, meter })
  const look = createReadinessLook(readinessChecks)
  const routes: Route[] = [
    ...lane.routes,
    transactionRoute(services),
    statusRoute(createServiceStatus({ registry, services, signers, plans, config, look })),
    ...healthRoutes(look, parts.isDraining),
    metricsRoute(metrics, parts.metricsOfAll?.(metrics)),
    ...docsRoutes(parts.samples),
    ...(parts.routes ?? []),
  ]
  const app = createApp({
    routes,
    log,
    basePaths: config.listen.basePaths,
    trustedProxies: config.listen.trustedProxies,
    admit: (ctx) => countRequests({ context: () => ctx }, rateLimits),
    middleware: [meterRequests(meter), ...(tracing ? [traceRequests(tracing)] : []), ...middleware],
  })
  // Tracing and added middleware run in the app only, so with them every request goes through the app.
  const isSeen = tracing !== undefined || middleware.length > 0
  return isSeen ? app.callback() : lane.inFrontOf(app)
}

/** @returns whether the work came to its end. @throws what the work throws in this time */
async function endsWithin(work: Promise<void>, ms: number): Promise<boolean> {
  const { promise: tooLate, resolve } = Promise.withResolvers<false>()
  const timer = setTimeout(() => resolve(false), Math.max(0, ms))
  try {
    return await Promise.race([work.then(() => true), tooLate])
  } finally {
    clearTimeout(timer)
  }
}

/** `POST /api/eth-rpc` with every method's plugin bound to its services. */
function rpcAnswer(
  registry: Registry,
  services: Services,
  {
    listen: { trustedProxies },
    limits,
    rateLimits,
    tracing,
  }: Pick<Config, 'listen' | 'limits'> & {
    readonly rateLimits: RateLimits
    readonly tracing: Tracing | undefined
  },
): Answer {
  const { bodyBytes, batchSize, nestingDepth } = limits
  const answerMs = limits.answerSeconds * 1000
  const methods = new Map(
    [...registry.rpcMethods].map(([name, loaded]) => {
      const picked = servicesFor(loaded, services)
      const { plugin, options, validateParams, validateResult } = loaded
      const { explain, concurrentCallsPerCaller: concurrentCalls } = plugin
      const plain = (params: readonly unknown[]) => plugin.handle(params, picked, options)
      const attributes = { 'rpc.system': 'jsonrpc', 'rpc.method': name }
      const traced = (params: readonly unknown[]) => tracing?.span(name, { attributes }, () => plain(params))
      const each = tracing ? traced : plain
      const handle = concurrentCalls ? callsPerCaller(each, { concurrentCalls, trustedProxies, answerMs }) : each
      return [name, { validateParams, validateResult, handle, explain }]
    }),
  )
  return jsonRpcEndpoint({
    methods,
    limits: { bodyBytes, batchLength: batchSize, depth: nestingDepth, answerMs },
    ...(rateLimits.isLimited('address') && {
      admit: {
        calls: (exchange, calls) => countRequests(exchange, rateLimits, { points: calls }),
        bytes: (exchange, bytes) => countBytes(exchange, rateLimits, bytes),
      },
    }),
  })
}

function urlOf({ address, family, port }: AddressInfo): string {
  const host = address === '0.0.0.0' || address === '::' ? '127.0.0.1' : address
  return `http://${family === 'IPv6' && host === address ? `[${host}]` : host}:${port}`
}
