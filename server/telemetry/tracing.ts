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
import { W3CTraceContextPropagator, ExportResultCode } from '@opentelemetry/core'
import { AsyncLocalStorage } from 'node:async_hooks'
import type { IncomingHttpHeaders } from 'node:http'
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-proto'
import {
  detectResources,
  resourceAttributesEnvDetector,
  resourceFromAttributes,
  serviceNameEnvDetector,
} from '@opentelemetry/resources'
import {
  BatchSpanProcessor,
  TracerProvider,
  type SpanExporter,
  AlwaysOffSampler,
  AlwaysOnSampler,
  ParentBasedSampler,
  TraceIdRatioBasedSampler,
  type Sampler,
} from '@opentelemetry/sdk-trace'
import type { Logger } from 'pino'
import type { Environment } from '../config/environment.ts'

/** The trace and the parent span that a span belongs to. */
export type TraceContext = Context

interface SpanOptions {
  readonly kind?: 'server' | 'client' | 'internal'
  /** They must hold no addresses, keys or bodies, and no texts of errors, which quote such things. */
  readonly attributes?: Attributes
  /**
   * Parents of the span; absent: the span that is current. Work for many requests at once is a span in each of their
   * traces, and calls within it belong to the first.
   */
  readonly parents?: readonly TraceContext[]
}

interface TracedSpan {
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

/** Makes the SDK's provider from the environment. The exporter reads its URL and headers from there itself. */
export function createProvider(environment: Environment, log: Logger): TracerProvider {
  const detected = detectResources({ detectors: [resourceAttributesEnvDetector, serviceNameEnvDetector] })
  return new TracerProvider({
    resource: resourceFromAttributes({ 'service.name': 'touchstone' }).merge(detected),
    sampler: samplerFrom(environment, log),
    spanProcessors: [
      new BatchSpanProcessor({
        exporter: tellFailures(new OTLPTraceExporter(), log),
        ...numbersFrom(environment, {
          scheduledDelayMillis: 'OTEL_BSP_SCHEDULE_DELAY',
          exportTimeoutMillis: 'OTEL_BSP_EXPORT_TIMEOUT',
          maxQueueSize: 'OTEL_BSP_MAX_QUEUE_SIZE',
          maxExportBatchSize: 'OTEL_BSP_MAX_EXPORT_BATCH_SIZE',
        }),
      }),
    ],
  })
}

/** Logs one line when sending begins to fail, and none for the failures after it. */
function tellFailures(exporter: SpanExporter, log: Logger): SpanExporter {
  let isFailing = false
  return {
    export: (spans, done) =>
      exporter.export(spans, (result) => {
        const hasFailed = result.code !== ExportResultCode.SUCCESS
        if (hasFailed && !isFailing) log.warn({ err: result.error }, 'traces cannot be sent')
        isFailing = hasFailed
        done(result)
      }),
    forceFlush: async () => exporter.forceFlush?.(),
    shutdown: () => exporter.shutdown(),
  }
}

/** The variables that hold a whole number. */
function numbersFrom<Name extends string>(
  environment: Environment,
  variables: Readonly<Record<Name, string>>,
): Partial<Record<Name, number>> {
  const found: Partial<Record<Name, number>> = {}
  for (const [name, variable] of Object.entries<string>(variables)) {
    const text = environment[variable]?.trim() ?? ''
    if (/^\d+$/.test(text)) found[name as Name] = Number(text)
  }
  return found
}

const samplers: Readonly<Record<string, (ratio: number) => Sampler>> = {
  always_on: () => new AlwaysOnSampler(),
  always_off: () => new AlwaysOffSampler(),
  traceidratio: (ratio) => new TraceIdRatioBasedSampler(ratio),
  parentbased_always_on: () => new ParentBasedSampler({ root: new AlwaysOnSampler() }),
  parentbased_always_off: () => new ParentBasedSampler({ root: new AlwaysOffSampler() }),
  parentbased_traceidratio: (ratio) => new ParentBasedSampler({ root: new TraceIdRatioBasedSampler(ratio) }),
}

/**
 * Which traces are kept: `OTEL_TRACES_SAMPLER` and `OTEL_TRACES_SAMPLER_ARG`, by default all but what a caller leaves
 * out.
 */
export function samplerFrom(environment: Environment, log: Logger): Sampler {
  const name = environment['OTEL_TRACES_SAMPLER']?.trim() || 'parentbased_always_on'
  const given = Number(environment['OTEL_TRACES_SAMPLER_ARG'] || 1)
  const ratio = given >= 0 && given <= 1 ? given : 1
  const create = samplers[name]
  if (create) return create(ratio)
  log.warn({ sampler: name, known: Object.keys(samplers) }, 'OTEL_TRACES_SAMPLER is not known: all traces are kept')
  return new ParentBasedSampler({ root: new AlwaysOnSampler() })
}
