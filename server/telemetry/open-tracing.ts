import type { Logger } from 'pino'
import { optionalPackage } from '../core/optional-package.ts'
import type { Environment } from '../config/environment.ts'
import type { Tracing } from './tracing.ts'

/** How long the last spans may take to be sent when the server stops. */
const CLOSE_MS = 2_000

/**
 * Starts tracing when the standard variables of OpenTelemetry ask for it: `OTEL_EXPORTER_OTLP_ENDPOINT`,
 * `OTEL_EXPORTER_OTLP_TRACES_ENDPOINT` or `OTEL_TRACES_EXPORTER`. Only then the SDK is loaded. Spans go out as
 * OTLP over HTTP (`http/protobuf`), in the background; spans that cannot be sent are dropped.
 *
 * @param environment of this process; the exporter reads its own variables from there itself
 * @returns undefined when no variable asks for traces
 */
export async function openTracing(environment: Environment, log: Logger): Promise<Tracing | undefined> {
  const fault = faultOf(environment)
  if (fault !== undefined) log.warn({ fault }, 'no traces are recorded')
  if (fault !== undefined || !isWanted(environment)) return undefined

  const { createProvider, createTracing } = await optionalPackage(
    '@opentelemetry/exporter-trace-otlp-proto',
    () => import('./tracing.ts'),
  )
  const provider = createProvider(environment, log)
  log.info('traces are recorded')
  return createTracing(provider.getTracer('touchstone'), async () => {
    const tooLate = new Promise<void>((resolve) => setTimeout(resolve, CLOSE_MS).unref())
    await Promise.race([provider.shutdown().catch(() => {}), tooLate])
  })
}

function isWanted(environment: Environment): boolean {
  if (environment['OTEL_SDK_DISABLED']?.toLowerCase() === 'true') return false
  const exporter = exporterOf(environment)
  if (exporter !== '') return exporter === 'otlp'
  return Boolean(environment['OTEL_EXPORTER_OTLP_TRACES_ENDPOINT'] || environment['OTEL_EXPORTER_OTLP_ENDPOINT'])
}

/**
 * Says what is asked for and not supported. The server starts all the same: such variables are set for whole fleets.
 */
function faultOf(environment: Environment): string | undefined {
  const exporter = exporterOf(environment)
  if (!['', 'otlp', 'none'].includes(exporter)) return `OTEL_TRACES_EXPORTER is ${exporter}, and can be otlp or none`
  if (!isWanted(environment)) return undefined
  const protocol = environment['OTEL_EXPORTER_OTLP_TRACES_PROTOCOL'] || environment['OTEL_EXPORTER_OTLP_PROTOCOL']
  if (!protocol || protocol === 'http/protobuf') return undefined
  return `OTEL_EXPORTER_OTLP_PROTOCOL is ${protocol}, and can be http/protobuf`
}

const exporterOf = (environment: Environment) => environment['OTEL_TRACES_EXPORTER']?.trim() ?? ''
