import { Counter, Histogram, type Registry, Gauge } from 'prom-client'
import type { Logger } from 'pino'
import type { Middleware } from 'koa'
import { UpstreamRpcError, type Upstream, type UpstreamCall } from '../services/node/upstream.ts'
import type { Settlement } from '../services/ledger/settle.ts'
import { readLatestBlock } from '../services/chain/latest-block.ts'
import type { CachedChain } from '../services/chain/create-chain.ts'
import type { Queries } from '../services/database/database.ts'
import type { Jobs } from '../services/jobs/jobs.ts'
import type { Relays } from '../services/relay-services.ts'
import type { Signers } from '../services/signers/signers.ts'

/** Counts the calls to the node and their time, by method and outcome. */
export function meterUpstream(upstream: Upstream, registry: Registry): Upstream {
  const callCounter = new Counter({
    name: 'touchstone_upstream_calls_total',
    help: 'Calls to the node, by method and outcome (ok, rejected by the node, failed).',
    labelNames: ['method', 'outcome'],
    registers: [registry],
  })
  const duration = new Histogram({
    name: 'touchstone_upstream_call_duration_seconds',
    help: 'Time that a call to the node took.',
    labelNames: ['method'],
    buckets: [0.001, 0.005, 0.01, 0.05, 0.1, 0.5, 1, 5, 10],
    registers: [registry],
  })
  return {
    request: async <Result>(...[method, params, options]: Parameters<Upstream['request']>): Promise<Result> => {
      const stop = duration.startTimer({ method })
      let outcome = 'ok'
      try {
        return await upstream.request<Result>(method, params, options)
      } catch (error) {
        outcome = error instanceof UpstreamRpcError ? 'rejected' : 'failed'
        throw error
      } finally {
        stop()
        callCounter.inc({ method, outcome })
      }
    },
    ...(upstream.requestTogether && {
      requestTogether: (calls: readonly UpstreamCall[], options) => {
        const outcomes = upstream.requestTogether?.(calls, options) ?? []
        return outcomes.map(async (asked, index) => {
          const method = calls[index]?.method ?? ''
          const stop = duration.startTimer({ method })
          const outcome = await asked
          stop()
          const isOk = outcome.status === 'fulfilled'
          const kind = isOk ? 'ok' : outcome.reason instanceof UpstreamRpcError ? 'rejected' : 'failed'
          callCounter.inc({ method, outcome: kind })
          return outcome
        })
      },
    }),
    close: () => upstream.close(),
  }
}

/** Counts the outcomes of relay calls. @returns a function to call with each settlement */
export function meterRelays(registry: Registry): (settlement: Settlement) => void {
  const relays = new Counter({
    name: 'touchstone_relays_total',
    help: 'Relay calls settled, by outcome and quota plan.',
    labelNames: ['outcome', 'plan'],
    registers: [registry],
  })
  const gas = new Counter({
    name: 'touchstone_relay_gas_used_total',
    help: 'Gas used by relay calls, by quota plan.',
    labelNames: ['plan'],
    registers: [registry],
  })
  const charged = new Counter({
    name: 'touchstone_quota_charged_total',
    help: 'Quota charged, by plan, in the exact unit of its model (gas, wei or count).',
    labelNames: ['plan'],
    registers: [registry],
  })
  return ({ status, plan, gasUsed, charged: amount }) => {
    relays.inc({ outcome: status, plan })
    gas.inc({ plan }, Number(gasUsed))
    charged.inc({ plan }, Number(amount))
  }
}

interface GaugeSources {
  readonly db: Queries
  readonly upstream: Upstream
  readonly chain: CachedChain
  readonly signers: Signers
  readonly relays: Relays
  readonly jobs: Jobs
  readonly nowMs: () => number
  readonly log: Logger
}

const WEI_PER_COIN = 1e18
const DAY_MS = 24 * 60 * 60 * 1000
/** The most milliseconds for reading one gauge. Prometheus waits about ten seconds for all of them. */
const READ_TIMEOUT_MS = 2_000

type Reading = readonly [labels: Readonly<Record<string, string>>, value: number]

/** Registers gauges whose values are read when somebody asks for the metrics. */
export function gaugeState(registry: Registry, sources: GaugeSources): void {
  const gauge = gaugeIn(registry, sources.log)
  countReads(registry, sources)
  gaugeChain(gauge, sources)
  gaugeSigners(gauge, sources)
  gaugeWork(gauge, sources)
  gaugeSpending(gauge, sources)
}

type MakeGauge = (name: string, help: string, labelNames: string[], read: () => Promise<Iterable<Reading>>) => void

/** A gauge whose value cannot be read is left out, so that the other metrics are still served. */
function gaugeIn(registry: Registry, log: Logger): MakeGauge {
  return (name, help, labelNames, read) =>
    void new Gauge({
      name,
      help,
      labelNames,
      registers: [registry],
      // They are about what all workers share, which all of them see.
      aggregator: 'max',
      async collect() {
        this.reset()
        // To a gauge without labels, the reset has given a 0.
        if (labelNames.length === 0) this.remove()
        try {
          for (const [labels, value] of await inTime(read())) this.set(labels, value)
        } catch (err) {
          log.warn({ err, metric: name }, 'a metric cannot be read')
        }
      },
    })
}

function countReads(registry: Registry, { chain }: GaugeSources): void {
  new Counter({
    name: 'touchstone_chain_reads_total',
    help: 'Questions to the chain, by where the answer came from: memory, a call to the node, or a call shared with others.',
    labelNames: ['source'],
    registers: [registry],
    // The counters grow where things happen; here they are read.
    collect() {
      const { hits, misses, shared } = chain.cacheStatistics
      this.reset()
      this.inc({ source: 'memory' }, hits)
      this.inc({ source: 'node' }, misses)
      this.inc({ source: 'shared' }, shared)
    },
  })
}

function gaugeChain(gauge: MakeGauge, { upstream, nowMs }: GaugeSources): void {
  gauge(
    'touchstone_latest_block_age_seconds',
    'Age of the latest block that the node has. It grows while the node does not follow its chain.',
    [],
    async () => [[{}, (await readLatestBlock(upstream, nowMs())).ageSeconds]],
  )
}

function gaugeSigners(gauge: MakeGauge, { db, upstream, signers }: GaugeSources): void {
  gauge(
    'touchstone_signer_balance_coins',
    'Balance of each relayer account, in the native coin, as last seen.',
    ['signer'],
    () =>
      Promise.resolve(
        signers.states().map(({ address, balanceWei }) => [{ signer: address }, Number(balanceWei) / WEI_PER_COIN]),
      ),
  )
  gauge(
    'touchstone_signer_nonce',
    'Next nonce of each relayer account: in the ledger, and on the chain. Their difference waits to be mined.',
    ['signer', 'in'],
    async () => {
      const rows = await db.selectFrom('signer_accounts').selectAll().execute()
      const ours = rows.filter(({ address }) => signers.byAddress(address))
      const counts = await Promise.all(
        ours.map(({ address }) => upstream.request<string>('eth_getTransactionCount', [address, 'latest'])),
      )
      return ours.flatMap(({ address, next_nonce }, index): Reading[] => [
        [{ signer: address, in: 'ledger' }, Number(next_nonce)],
        [{ signer: address, in: 'chain' }, Number(counts[index])],
      ])
    },
  )
  gauge(
    'touchstone_signer_refusals',
    'How often the node has refused the next transaction of each relayer account; 0 while it takes them.',
    ['signer'],
    async () => {
      const rows = await db.selectFrom('signer_accounts').select(['address', 'refusals']).execute()
      return rows
        .filter(({ address }) => signers.byAddress(address))
        .map(({ address, refusals }) => [{ signer: address }, refusals])
    },
  )
}

function gaugeWork(gauge: MakeGauge, { relays, jobs, nowMs }: GaugeSources): void {
  gauge(
    'touchstone_relays_last_day',
    'Relay calls accepted in the last 24 hours, by their status now.',
    ['status'],
    async () => Object.entries(await relays.countSince(nowMs() - DAY_MS)).map(([status, count]) => [{ status }, count]),
  )
  gauge(
    'touchstone_jobs',
    'Background jobs: ready and waiting for a process, put off for a moment, running.',
    ['state'],
    async () => Object.entries(await jobs.depth()).map(([state, count]) => [{ state }, count]),
  )
}

function gaugeSpending(gauge: MakeGauge, { db }: GaugeSources): void {
  gauge(
    'touchstone_unregistered_gas',
    'Gas that profiles which nobody registered were given in the latest hour and day, by the budget that it counts for.',
    ['budget', 'window'],
    async () => {
      const rows = await db.selectFrom('budgets').selectAll().execute()
      return rows.map(({ scope, used }): Reading => {
        const [budget = '', seconds] = scope.split('/')
        return [{ budget, window: seconds === '3600' ? 'hour' : 'day' }, Number(used)]
      })
    },
  )
  gauge(
    'touchstone_quota',
    'What the profiles of a plan may use in their periods, and have used or reserved, in the exact unit of its model.',
    ['plan', 'amount'],
    async () => {
      const rows = await db
        .selectFrom('profiles')
        .groupBy('plan')
        .select(({ fn }) => ['plan', fn.sum<string>('allowance').as('allowance'), fn.sum<string>('used').as('used')])
        .execute()
      return rows.flatMap(({ plan, allowance, used }): Reading[] => [
        [{ plan, amount: 'allowance' }, Number(allowance)],
        [{ plan, amount: 'used' }, Number(used)],
      ])
    },
  )
}

async function inTime<T>(reading: Promise<T>): Promise<T> {
  const { promise: tooLate, reject } = Promise.withResolvers<never>()
  const timer = setTimeout(() => reject(new Error(`not read within ${READ_TIMEOUT_MS} ms`)), READ_TIMEOUT_MS)
  try {
    return await Promise.race([reading, tooLate])
  } finally {
    clearTimeout(timer)
  }
}

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
