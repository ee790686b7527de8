import {
  AlwaysOffSampler,
  AlwaysOnSampler,
  ParentBasedSampler,
  TraceIdRatioBasedSampler,
  type Sampler,
} from '@opentelemetry/sdk-trace'
import type { Logger } from 'pino'
import type { Environment } from '../config/environment.ts'

const samplers: Readonly<Record<string, (ratio: number) => Sampler>> = {
  always_on: () => new AlwaysOnSampler(),
  always_off: () => new AlwaysOffSampler(),
  traceidratio: (ratio) => new TraceIdRatioBasedSampler(ratio),
  parentbased_always_on: () => new ParentBasedSampler({ root: new AlwaysOnSampler() }),
  parentbased_always_off: () => new ParentBasedSampler({ root: new AlwaysOffSampler() }),
  parentbased_traceidratio: (ratio) => new ParentBasedSampler({ root: new TraceIdRatioBasedSampler(ratio) }),
}

/** Which traces are kept: `OTEL_TRACES_SAMPLER` and `OTEL_TRACES_SAMPLER_ARG`, by default all but what a caller leaves out. */
export function samplerFrom(environment: Environment, log: Logger): Sampler {
  const name = environment['OTEL_TRACES_SAMPLER']?.trim() || 'parentbased_always_on'
  const given = Number(environment['OTEL_TRACES_SAMPLER_ARG'] || 1)
  const ratio = given >= 0 && given <= 1 ? given : 1
  const create = samplers[name]
  if (create) return create(ratio)
  log.warn({ sampler: name, known: Object.keys(samplers) }, 'OTEL_TRACES_SAMPLER is not known: all traces are kept')
  return new ParentBasedSampler({ root: new AlwaysOnSampler() })
}
