import { ROOT_CONTEXT, SpanKind } from '@opentelemetry/api'
import { SamplingDecision } from '@opentelemetry/sdk-trace'
import { expect } from 'chai'
import { pino } from 'pino'
import { openTracing } from '../../telemetry/open-tracing.ts'
import { samplerFrom } from '../../telemetry/tracing.ts'

/** What a log says, line by line. */
function recordingLog() {
  const lines: Record<string, unknown>[] = []
  const log = pino({ base: null }, { write: (line: string) => void lines.push(JSON.parse(line) as (typeof lines)[0]) })
  return { log, lines }
}

describe('openTracing', () => {
  const OTEL_EXPORTER_OTLP_ENDPOINT = 'http://127.0.0.1:9'

  for (const [variable, value] of Object.entries({
    OTEL_TRACES_EXPORTER: 'jaeger',
    OTEL_EXPORTER_OTLP_PROTOCOL: 'grpc',
    OTEL_EXPORTER_OTLP_TRACES_PROTOCOL: 'http/json',
  })) {
    it(`does without traces, and says why, when ${variable} is ${value}`, async () => {
      const { log, lines } = recordingLog()
      expect(await openTracing({ OTEL_EXPORTER_OTLP_ENDPOINT, [variable]: value }, log)).to.equal(undefined)
      expect(lines).to.have.lengthOf(1)
      expect(lines[0]).to.include({ level: 40, msg: 'no traces are recorded' })
      expect(lines[0]?.['fault']).to.include(value)
    })
  }

  it('says nothing when nobody asks', async () => {
    const { log, lines } = recordingLog()
    expect(await openTracing({ OTEL_SERVICE_NAME: 'relay' }, log)).to.equal(undefined)
    expect(await openTracing({ OTEL_EXPORTER_OTLP_ENDPOINT: '' }, log)).to.equal(undefined)
    expect(lines).to.deep.equal([])
  })
})

describe('samplerFrom', () => {
  const { log, lines } = recordingLog()
  const isKept = (environment: Record<string, string>) => {
    // One of the last that a ratio takes in.
    const traceId = 'f'.repeat(8).padEnd(32, '0')
    const { decision } = samplerFrom(environment, log).shouldSample(ROOT_CONTEXT, traceId, 'a', SpanKind.SERVER, {}, [])
    return decision === SamplingDecision.RECORD_AND_SAMPLED
  }

  for (const [name, ratio, kept] of [
    ['', '', true],
    ['always_on', '', true],
    ['always_off', '', false],
    ['traceidratio', '1', true],
    ['traceidratio', '0', false],
    ['parentbased_always_on', '', true],
    ['parentbased_always_off', '', false],
    ['parentbased_traceidratio', '0.01', false],
    ['parentbased_traceidratio', 'much', true],
  ] as const) {
    it(`${name || 'nothing said'}${ratio && ` ${ratio}`}: ${kept ? 'kept' : 'left out'}`, () => {
      expect(isKept({ OTEL_TRACES_SAMPLER: name, OTEL_TRACES_SAMPLER_ARG: ratio })).to.equal(kept)
      expect(lines).to.deep.equal([])
    })
  }

  it('keeps all, and says so, when it does not know the name', () => {
    expect(isKept({ OTEL_TRACES_SAMPLER: 'jaeger_remote' })).to.equal(true)
    expect(lines.splice(0)).to.have.nested.property('[0].sampler', 'jaeger_remote')
  })
})
