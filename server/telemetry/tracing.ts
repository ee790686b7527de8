import {
  defaultTextMapGetter,
  defaultTextMapSetter,
  ROOT_CONTEXT,
  SpanKind,
  SpanStatusCode,
  trace,
  type Attributes,
  type Context,
  type Tracer,
} from '@opentelemetry/api'
import { W3CTraceContextPropagator } from '@opentelemetry/core'
import { AsyncLocalStorage } from 'node:async_hooks'
import type { IncomingHttpHeaders } from 'node:http'

/** The trace and the parent span that a span belongs to. */
export type TraceContext = Context

export interface SpanOptions {
  readonly kind?: 'server' | 'client' | 'internal'
  /** Never addresses, keys, bodies, or texts of errors, which quote them. */
  readonly attributes?: Attributes
  /**
   * Parents of the span; absent: the span that is current. Work for many requests at once is a span in each of their
   * traces, and calls within it belong to the first.
   */
  readonly parents?: readonly TraceContext[]
}

export interface TracedSpan {
  rename(name: string): void
  set(attributes: Attributes): void
  /** @param type a code of the error, never its text */
  fail(type: string): void
}

/** Records what the server does as spans of traces (OpenTelemetry). It exists only when traces are asked for. */
export interface Tracing {
  /** Runs work within a span. Work that throws marks the span as failed; the error is thrown on. */
  span<T>(name: string, options: SpanOptions, work: (span: TracedSpan) => T | Promise<T>): Promise<T>
  /** Records a span of something that is already over. */
  record(name: string, parent: TraceContext | undefined, startMs: number, attributes: Attributes): void
  /** The current span's context. */
  current(): TraceContext
  /** The trace that a caller's `traceparent` (W3C Trace Context) names, or a new one. */
  incoming(headers: IncomingHttpHeaders): TraceContext
  /** The header `traceparent` of the current span. */
  traceparent(): string | undefined
  /** Sends the recorded spans, and gives up after a while. It never rejects. */
  close(): Promise<void>
}

const kinds = { server: SpanKind.SERVER, client: SpanKind.CLIENT, internal: SpanKind.INTERNAL } as const

/** @param shutDown sends what is recorded and ends; never rejects */
export function createTracing(tracer: Tracer, shutDown: () => Promise<void>): Tracing {
  // Not the global context of the API, so that two servers in one process do not mix their traces.
  const storage = new AsyncLocalStorage<Context>()
  const propagator = new W3CTraceContextPropagator()
  const current = () => storage.getStore() ?? ROOT_CONTEXT

  return {
    span: async (name, { kind = 'internal', attributes = {}, parents = [current()] }, work) => {
      const contexts = [...new Set(parents)]
      const spans = contexts.map((parent) => tracer.startSpan(name, { kind: kinds[kind], attributes }, parent))
      const traced: TracedSpan = {
        rename: (to) => spans.forEach((span) => span.updateName(to)),
        set: (more) => spans.forEach((span) => span.setAttributes(more)),
        fail: (type) =>
          spans.forEach((span) => span.setAttribute('error.type', type).setStatus({ code: SpanStatusCode.ERROR })),
      }
      const [first] = spans
      const inside = first ? trace.setSpan(contexts[0] ?? ROOT_CONTEXT, first) : current()
      try {
        return await storage.run(inside, work, traced)
      } catch (error) {
        traced.fail(typeOf(error))
        throw error
      } finally {
        for (const span of spans) span.end()
      }
    },
    record: (name, parent, startMs, attributes) =>
      tracer.startSpan(name, { startTime: startMs, attributes }, parent ?? ROOT_CONTEXT).end(),
    current,
    incoming: (headers) => propagator.extract(ROOT_CONTEXT, headers, defaultTextMapGetter),
    traceparent: () => {
      const carrier: Record<string, string> = {}
      propagator.inject(current(), carrier, defaultTextMapSetter)
      return carrier['traceparent']
    },
    close: shutDown,
  }
}

/** The code of an error of the catalogue or of a node; of any other error its class name alone. */
function typeOf(error: unknown): string {
  if (!(error instanceof Error)) return typeof error
  const { code } = error as { code?: unknown }
  return typeof code === 'string' || typeof code === 'number' ? String(code) : error.name
}
