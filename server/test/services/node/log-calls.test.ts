import { expect } from 'chai'
import { HttpNode } from '../../../services/node/http-node.ts'
import { LOG_CALLS_AT_A_TIME, NodeFailure } from '../../../services/node/node-connection.ts'
import { WebSocketNode } from '../../../services/node/websocket-node.ts'
import { startFakeNode } from '../../support/fake-node.ts'

describe('queries for logs that wait for their turn', () => {
  for (const [way, connect] of [
    ['HTTP', ({ url }) => new HttpNode(url)],
    ['WebSocket', ({ webSocketUrl }) => new WebSocketNode(webSocketUrl)],
  ] satisfies [string, (node: Awaited<ReturnType<typeof startFakeNode>>) => HttpNode | WebSocketNode][]) {
    it(`are not sent when their time is over, by ${way}`, async () => {
      const silent = await startFakeNode({})
      silent.onRequest = () => {}
      silent.onMessage = () => {}
      const connection = connect(silent)
      const ask = (count: number, timeoutMs: number) =>
        Array.from({ length: count }, () => connection.call('eth_getLogs', [], timeoutMs))
      try {
        // The first ones hold all places for longer than the others have time.
        const outcomes = await Promise.allSettled([...ask(LOG_CALLS_AT_A_TIME, 200), ...ask(12, 100)])
        const failures = outcomes.map((outcome) =>
          outcome.status === 'rejected' ? (outcome.reason as unknown) : outcome,
        )
        expect(failures.every((failure) => failure instanceof NodeFailure)).to.equal(true)
        expect(silent.calls('eth_getLogs')).to.have.length(LOG_CALLS_AT_A_TIME)
      } finally {
        await connection.close()
        await silent.close()
      }
    })
  }
})
