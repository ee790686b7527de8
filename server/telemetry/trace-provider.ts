import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-proto'
import { ExportResultCode } from '@opentelemetry/core'
import {
  detectResources,
  resourceAttributesEnvDetector,
  resourceFromAttributes,
  serviceNameEnvDetector,
} from '@opentelemetry/resources'
import { BatchSpanProcessor, TracerProvider, type SpanExporter } from '@opentelemetry/sdk-trace'
import type { Logger } from 'pino'
import type { Environment } from '../config/environment.ts'
import { samplerFrom } from './sampler.ts'

/** The SDK as the environment configures it; where spans go, and by which headers, the exporter reads there itself. */
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

/** One line when sending begins to fail, none for each failure after it. */
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
