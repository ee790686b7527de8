import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { pino, type Logger } from 'pino'
import { Registry as MetricsRegistry } from 'prom-client'
import { createApp } from '../../app.ts'
import { parseConfig } from '../../config/load.ts'
import type { Secrets } from '../../config/environment.ts'
import type { Services } from '../../core/define.ts'
import { executeAnswers, transactionRoute } from '../../http/execute.ts'
import { createFastLane } from '../../http/fast-lane.ts'
import { createRequestMeter } from '../../telemetry/metrics.ts'
import { QUOTA_PATH, quotaAnswer } from '../../http/quota.ts'
import { systemClock, type Clock } from '../../services/clock.ts'
import { composeServices, type Composed, type ComposeOptions, type Timings } from '../../compose.ts'
// Where Services gets its member `relays`.
import type {} from '../../services/relay-services.ts'
import { boundless } from '../../services/ledger/budgets.ts'
import { createRateLimits } from '../../services/rate-limits.ts'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { accountKey } from '../../services/relayer/account-queue.ts'
import type { Tracing } from '../../telemetry/tracing.ts'
import { ownRegistry } from './own-registry.ts'
import type { RelayChain } from './relay-chain.ts'
import { until } from './until.ts'

interface RelayServerOptions {
  readonly rpcUrl: string
  readonly signerKeys: readonly string[]
  readonly keystores?: Secrets['keystores']
  readonly databaseUrl?: string
  /** Over a configuration that is open, in memory, and settles at once. */
  readonly config?: Readonly<Record<string, unknown>>
  readonly timings?: Partial<Timings>
  /** Relay calls per minute for one profile. Default: no limit. */
  readonly relaysPerMinute?: number
  readonly clock?: Clock
  readonly log?: Logger
  /** Changes what the server is composed of. */
  readonly compose?: Partial<ComposeOptions>
}

export interface RelayServer {
  readonly url: string
  readonly services: Services
  readonly database: Composed['database']
  readonly plans: Composed['plans']
  readonly metrics: MetricsRegistry
  readonly readinessChecks: Composed['readinessChecks']
  close(): Promise<void>
}

/** The relay routes with all their services, as the server runs them, and nothing beside. */
export async function startRelayServer(options: RelayServerOptions): Promise<RelayServer> {
  const { rpcUrl, signerKeys, keystores = [], databaseUrl, timings, clock = systemClock } = options
  const log = options.log ?? pino({ level: 'silent' })
  const tree = {
    chain: { rpcUrls: [rpcUrl], confirmations: 0, requestTimeoutMs: 10_000 },
    database: { folder: null },
    registration: 'open',
    unregistered: boundless,
    ...options.config,
  }
  const config = parseConfig(tree, 'test', process.cwd())
  const registry = await ownRegistry()
  const metrics = new MetricsRegistry()
  const secrets = { signerKeys, keystores, ...(databaseUrl !== undefined && { databaseUrl }) }
  const composed = await composeServices({
    config,
    secrets,
    registry,
    clock,
    log,
    metrics,
    // Tests wait for what looks find.
    timings: { lookPauseSeconds: 0, ...timings },
    ...options.compose,
  })
  const { services } = composed
  const rateLimits = await createRateLimits({ requestsPerMinute: 0, relaysPerMinute: options.relaysPerMinute ?? 0 })
  const limits = { bodyBytes: 1 << 20, nestingDepth: 32 }
  const routeOptions = { registry, services, limits, rateLimits }
  const meter = createRequestMeter(metrics)
  const answers = new Map([
    [QUOTA_PATH, quotaAnswer({ ...routeOptions, ...config.quota })],
    ...executeAnswers(routeOptions),
  ])
  const lane = createFastLane({ answers, log, meter })
  const app = createApp({ routes: [...lane.routes, transactionRoute(services)], log })
  const http = createServer(lane.inFrontOf(app)).listen(0, '127.0.0.1')
  await once(http, 'listening')
  return {
    url: `http://127.0.0.1:${(http.address() as AddressInfo).port}`,
    services,
    database: composed.database,
    plans: composed.plans,
    metrics,
    readinessChecks: composed.readinessChecks,
    close: async () => {
      http.close()
      http.closeIdleConnections()
      await rateLimits.close()
      await composed.close()
      http.closeAllConnections()
    },
  }
}

export interface BundlingServer extends RelayServer {
  /**
   * Makes requests, and holds the relayer's accounts until the calls have been tried: they wait for an account at the same
   * moment.
   *
   * @param requests of one call each; calls that are tried in one run, and those that follow on a call that waits, are
   *   `untried`
   */
  together<T>(requests: readonly (() => Promise<T>)[], untried?: number): Promise<T[]>
}

/** After so many turns in which the node is asked nothing, calls that were tried wait for an account. */
const TURNS = 50

/** A relay server that puts the calls that wait for an account into one transaction. */
export async function startBundlingServer(
  chain: RelayChain,
  { config = {}, ...options }: Partial<RelayServerOptions> = {},
  maxCalls = 16,
): Promise<BundlingServer> {
  const watched: Watched = { simulated: 0, underWay: 0 }
  const server = await startRelayServer({
    rpcUrl: chain.node.rpcUrl,
    signerKeys: chain.signerKeys,
    ...options,
    config: {
      ...config,
      relay: { ...(config['relay'] as object), bundle: { contract: await chain.bundler(), maxCalls } },
    },
    compose: { tracing: watch(watched) },
  })
  return {
    ...server,
    together: async (requests, untried = 0) => {
      const wanted = watched.simulated + requests.length - untried
      const release = Promise.withResolvers<void>()
      const held = chain.signers.map((signer) => server.database.exclusively(accountKey(signer), () => release.promise))
      const answers = Promise.all(requests.map((request) => request()))
      try {
        await Promise.race([answers, until(() => watched.simulated >= wanted)])
        for (let turn = 0; turn < TURNS; turn = watched.underWay === 0 ? turn + 1 : 0) await nextTurn()
      } finally {
        release.resolve()
      }
      await Promise.all(held)
      return answers
    },
  }
}

interface Watched {
  /** The calls that were tried. */
  simulated: number
  /** What the node is asked. */
  underWay: number
}

/** Traces nothing, and counts. */
function watch(watched: Watched): Tracing {
  return {
    span: async (name, { kind, attributes }, work) => {
      const toNode = Number(kind === 'client')
      watched.underWay += toNode
      try {
        const result = await work({ rename: () => {}, set: () => {}, fail: () => {} })
        if (name === 'simulate') watched.simulated += Number(attributes?.['touchstone.relay.calls'])
        return result
      } finally {
        watched.underWay -= toNode
      }
    },
    record: () => {},
    current: () => ({}) as ReturnType<Tracing['current']>,
    incoming: () => ({}) as ReturnType<Tracing['incoming']>,
    // Without one, what the node is asked would be no span.
    traceparent: () => `00-${'1'.repeat(32)}-${'1'.repeat(16)}-00`,
    close: async () => {},
  }
}
