import { expect } from 'chai'
import { pino } from 'pino'
import { UpstreamRpcError, type Upstream, type UpstreamCall } from '../../../services/node/upstream.ts'
import { createBroadcaster } from '../../../services/relayer/broadcast.ts'

describe('createBroadcaster', () => {
  const log = pino({ level: 'silent' })
  const signed = (raw: string) => ({ hash: `hash of ${raw}`, raw })
  const rawOf = ({ params: [raw] }: UpstreamCall) => String(raw)

  it('sends the transactions of an account in order, tells of each as soon as it is taken, and stops at one that is refused', async () => {
    const requests: string[][] = []
    const upstream: Upstream = {
      // What was refused is tried once more by itself; the node does not have it.
      request: async (method) => {
        if (method === 'eth_sendRawTransaction') throw new UpstreamRpcError({ code: -32000, message: 'no' })
        return null as never
      },
      requestTogether: (calls) => {
        requests.push(calls.map(rawOf))
        return calls.map(async (call): Promise<PromiseSettledResult<unknown>> => {
          // Never answered: nobody may wait for it.
          if (rawOf(call) === 'a3') return new Promise<never>(() => {})
          return rawOf(call) === 'b2'
            ? { status: 'rejected', reason: new UpstreamRpcError({ code: -32000, message: 'no' }) }
            : { status: 'fulfilled', value: '0x' }
        })
      },
      close: async () => {},
    }
    const broadcaster = createBroadcaster({ upstream, log })
    const taken: string[] = []
    const send = (...raws: string[]) =>
      broadcaster.send(raws.map(signed), (index) => void taken.push(raws[index] ?? 'nothing'))
    void send('a1', 'a2', 'a3')
    expect(await Promise.all([send('b1', 'b2', 'b3'), send('c1')])).to.deep.equal([
      { taken: 1, isRefused: true },
      { taken: 1, isRefused: false },
    ])
    expect(requests).to.deep.equal([['a1', 'a2', 'a3'], ['b1', 'b2', 'b3'], ['c1']])
    expect(taken).to.have.members(['a1', 'a2', 'b1', 'c1'])
  })
})
