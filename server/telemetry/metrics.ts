import { Counter, Histogram, type Registry } from 'prom-client'
import { UpstreamRpcError, type Upstream, type UpstreamCall } from '../services/node/upstream.ts'
import type { Settlement } from '../services/ledger/settle.ts'

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
