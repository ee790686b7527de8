import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-proto'
import { ExportResultCode } from '@opentelemetry/core'
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
