import { expect } from 'chai'
import { LOG_CALLS_AT_A_TIME } from '../../../services/node/node-connection.ts'
import { outcomeOf, upstreamSetup } from '../../support/upstream-setup.ts'

describe('queries for logs that wait for their turn', () => {
  const { node, connectBriefly, closeAll } = upstreamSetup()
  afterEach(closeAll)

  for (const way of ['HTTP', 'WebSocket'] as const) {
    it(`end in the time of one, and are not sent when it is over, by ${way}`, async () => {
      const silent = await node()
      const upstream = connectBriefly(way, silent)
      await upstream.request('eth_getLogs', [])
      silent.onRequest = () => {}
      silent.onMessage = () => {}
      const before = silent.calls('eth_getLogs').length
      const begunMs = performance.now()
      const calls = Array.from({ length: 4 * LOG_CALLS_AT_A_TIME }, () =>
        outcomeOf(upstream.request('eth_getLogs', [])),
      )
      expect(new Set(await Promise.all(calls))).to.deep.equal(new Set(['UPSTREAM_UNAVAILABLE']))
      // One after the other they would take four times 200 ms.
      expect(performance.now() - begunMs).to.be.lessThan(500)
      expect(silent.calls('eth_getLogs').length - before).to.equal(LOG_CALLS_AT_A_TIME)
    })
  }
})
