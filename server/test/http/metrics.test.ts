import { expect } from 'chai'
import { Histogram, Registry } from 'prom-client'
import { createRequestMeter } from '../../http/metrics.ts'

const NAME = 'touchstone_http_request_duration_seconds'

describe('createRequestMeter', () => {
  it('tells durations as the histogram of prom-client does', async () => {
    const [registry, expected] = [new Registry(), new Registry()]
    const meter = createRequestMeter(registry)
    const histogram = new Histogram({
      name: NAME,
      help: 'Time from the request line to the answer.',
      labelNames: ['route', 'method', 'status'],
      buckets: [0.001, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10],
      registers: [expected],
    })
    const answers: [string, number, number[]][] = [
      ['/execute', 200, [0, 1, 1.5, 5, 7, 10_000, 10_001, 60_000]],
      ['/quota', 429, [0.2]],
    ]
    for (const [route, status, durationsMs] of answers) {
      for (const durationMs of durationsMs) {
        meter.series(route, 'POST', status)(durationMs)
        histogram.observe({ route, method: 'POST', status: String(status) }, durationMs / 1000)
      }
    }
    const lines = async (of: Registry) => (await of.getSingleMetricAsString(NAME)).split('\n').map(sorted)
    expect(await lines(registry)).to.deep.equal(await lines(expected))
  })

  it('counts answers by route, verb and status', async () => {
    const registry = new Registry()
    const meter = createRequestMeter(registry)
    for (const status of [200, 404, 200]) meter.series(undefined, 'GET', status)(3)
    expect((await registry.getSingleMetric('touchstone_http_requests_total')?.get())?.values).to.deep.equal([
      { labels: { route: 'other', method: 'GET', status: '200' }, value: 2 },
      { labels: { route: 'other', method: 'GET', status: '404' }, value: 1 },
    ])
  })
})

/** The order of the labels means nothing. */
const sorted = (line: string) =>
  line.replace(/\{(.*)\}/, (_match, labels: string) => `{${labels.split(',').sort().join(',')}}`)
