import { expect } from 'chai'
import { Registry } from 'prom-client'
import { createRequestMeter } from '../../http/metrics.ts'

describe('createRequestMeter', () => {
  it('tells durations in seconds, by route, verb and status', async () => {
    const registry = new Registry()
    const meter = createRequestMeter(registry)
    for (const durationMs of [0, 1, 1.5, 5, 60_000]) meter.series('/execute', 'POST', 200)(durationMs)
    meter.series('/quota', 'POST', 429)(250)
    const lines = (await registry.getSingleMetricAsString('touchstone_http_request_duration_seconds')).split('\n')
    const valueOf = (suffix: string, ...labels: string[]) =>
      lines.find((line) => line.includes(`${suffix}{`) && labels.every((label) => line.includes(label)))?.split(' ')[1]
    const executed = ['route="/execute"', 'method="POST"', 'status="200"']
    expect(valueOf('_bucket', 'le="0.001"', ...executed)).to.equal('2')
    expect(valueOf('_bucket', 'le="0.005"', ...executed)).to.equal('4')
    expect(valueOf('_bucket', 'le="10"', ...executed)).to.equal('4')
    expect(valueOf('_bucket', 'le="+Inf"', ...executed)).to.equal('5')
    expect(Number(valueOf('_sum', ...executed))).to.be.closeTo(60.0075, 1e-9)
    expect(valueOf('_sum', 'route="/quota"', 'status="429"')).to.equal('0.25')
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
