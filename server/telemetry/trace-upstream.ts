import type { Upstream } from '../services/node/upstream.ts'
import type { Tracing } from './tracing.ts'

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
