import type { Middleware } from 'koa'
import type { RelayCall } from '../core/define.ts'
import type { Settlement } from '../services/ledger/settle.ts'
import type { RelayObserver } from '../services/relayer/observer.ts'
import type { Relayer } from '../services/relay-services.ts'
import type { Simulator } from '../services/simulator/simulator.ts'
import type { TraceContext, Tracing } from './tracing.ts'
import type { Upstream } from '../services/node/upstream.ts'

/** Spans of relay calls: from the request, which ends when a transaction is sent, to the settlement long after it. */
interface RelayTracing {
  readonly observer: RelayObserver
  simulator(simulator: Simulator): Simulator
  relayer(relayer: Relayer): Relayer
  settled(settlement: Settlement, requestId: string | null): void
}

interface Remembered {
  readonly context: TraceContext
  readonly storedMs: number
}

/** The most relays whose trace is remembered until they are mined. The oldest are forgotten first. */
const MAX_REMEMBERED = 10_000

/**
 * Calls of many requests are simulated, stored and sent together: each request's trace gets a span for that. When another
 * process settles a call, or this one after a restart, the settlement is a trace of its own that names the request's id.
 */
export function traceRelays(tracing: Tracing): RelayTracing {
  const contexts = new WeakMap<object, TraceContext>()
  /** By the relay. */
  const stored = new Map<string, Remembered>()
  /** The relays of transactions that are to be sent. */
  const relaysOf = new Map<string, readonly string[]>()
  const parentsOf = (calls: readonly object[]) => known(calls.map((call) => contexts.get(call)))

  function remember({ relay, hash }: { relay: string; hash: string }, context: TraceContext | undefined): void {
    if (!context) return
    keep(stored, relay, { context, storedMs: Date.now() })
    keep(relaysOf, hash, [...(relaysOf.get(hash) ?? []), relay])
  }

  return {
    relayer: (relayer) => ({
      ...relayer,
      submit: (call) =>
        tracing.span('relay', {}, () => {
          contexts.set(call, tracing.current())
          return relayer.submit(call)
        }),
    }),
    simulator: (simulator) => ({
      simulate: (run) =>
        tracing.span('simulate', { parents: parentsOf(run.calls), attributes: count(run.calls) }, () =>
          simulator.simulate(run),
        ),
    }),
    observer: {
      store: (acceptances, work) => {
        const calls: RelayCall[] = acceptances.map(({ call }) => call)
        return tracing.span('store', { parents: parentsOf(calls), attributes: count(calls) }, async () => {
          const outcomes = await work()
          outcomes.forEach((outcome, index) => {
            const call = calls[index]
            if (outcome.kind === 'stored' && call) remember(outcome, contexts.get(call))
          })
          return outcomes
        })
      },
      send: (hashes, work) => {
        const relays = hashes.flatMap((hash) => relaysOf.get(hash) ?? [])
        for (const hash of hashes) relaysOf.delete(hash)
        const parents = known(relays.map((relay) => stored.get(relay)?.context))
        return tracing.span('broadcast', { parents, attributes: count(hashes) }, work)
      },
    },
    settled: ({ relay, status, gasUsed }, requestId) => {
      const remembered = stored.get(relay)
      tracing.record('settle', remembered?.context, remembered?.storedMs ?? Date.now(), {
        'touchstone.relay.outcome': status,
        'touchstone.relay.gas_used': Number(gasUsed),
        ...(requestId !== null && { 'touchstone.request_id': requestId }),
      })
      // A call that a reorganisation took back is settled again.
      if (status !== 'pending') stored.delete(relay)
    },
  }
}

const known = (contexts: readonly (TraceContext | undefined)[]) => contexts.filter((context) => context !== undefined)

/** Sets an entry, and forgets the oldest one when there are too many. */
function keep<Value>(all: Map<string, Value>, key: string, value: Value): void {
  all.set(key, value)
  const [oldest] = all.keys()
  if (all.size > MAX_REMEMBERED && oldest !== undefined) all.delete(oldest)
}

const count = (calls: readonly unknown[]) => ({ 'touchstone.relay.calls': calls.length })

/** Makes each call to the node a span, and sends the node the `traceparent`. */
export function traceUpstream(upstream: Upstream, tracing: Tracing): Upstream {
  const { requestTogether } = upstream
  const options = (method: string) =>
    ({ kind: 'client', attributes: { 'rpc.system': 'jsonrpc', 'rpc.method': method } }) as const
  const propagated = () => {
    const traceparent = tracing.traceparent()
    return traceparent === undefined ? {} : { traceparent }
  }
  return {
    // A call without a request behind it gets no trace: the server looks at the head every now and then.
    request: <Result>(...[method, params, given]: Parameters<Upstream['request']>) =>
      tracing.traceparent() === undefined
        ? upstream.request<Result>(method, params, given)
        : tracing.span(method, options(method), () =>
            upstream.request<Result>(method, params, { ...given, ...propagated() }),
          ),
    ...(requestTogether && {
      requestTogether: (calls, given) => {
        const [method = 'none'] = calls.map((call) => call.method)
        let outcomes: ReturnType<typeof requestTogether> = []
        const name = calls.length === 1 ? method : `${method} batch`
        void tracing.span(name, options(method), async (span) => {
          span.set({ 'rpc.calls': calls.length })
          outcomes = requestTogether(calls, { ...given, ...propagated() })
          await Promise.all(outcomes)
        })
        return outcomes
      },
    }),
    close: () => upstream.close(),
  }
}

/** Paths that are asked every few seconds, and whose traces would tell nothing. */
const untraced = new Set(['/healthz', '/readyz', '/metrics'])

/** A span for each request, in the trace that the caller names by `traceparent`. */
export function traceRequests(tracing: Tracing): Middleware {
  return (ctx, next) => {
    if (untraced.has(ctx.path)) return next()
    const attributes = { 'http.request.method': ctx.method, 'touchstone.request_id': ctx.state.requestId }
    // The route is known later. The path itself may contain something secret.
    return tracing.span(
      ctx.method,
      { kind: 'server', parents: [tracing.incoming(ctx.req.headers)], attributes },
      async (span) => {
        await next()
        const { route } = ctx.state
        if (route !== undefined) span.rename(`${ctx.method} ${route}`)
        span.set({ 'http.response.status_code': ctx.status, ...(route !== undefined && { 'http.route': route }) })
        if (ctx.status >= 500) span.fail(String(ctx.status))
      },
    )
  }
}
