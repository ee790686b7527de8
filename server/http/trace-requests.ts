import type { Middleware } from 'koa'
import type { Tracing } from '../telemetry/tracing.ts'

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
