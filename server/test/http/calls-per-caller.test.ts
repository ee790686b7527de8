import { expect } from 'chai'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { callsPerCaller } from '../../http/calls-per-caller.ts'
import type { CallContext } from '../../http/json-rpc-call.ts'

describe('callsPerCaller', () => {
  let made: unknown[]
  let ends: (() => void)[]
  const dear = async ([name]: readonly unknown[]) => {
    made.push(name)
    await new Promise<void>((resolve) => ends.push(resolve))
  }
  const from = (remoteAddress: string, headers = {}) =>
    ({ request: { headers, socket: { remoteAddress } }, response: { closed: false } }) as unknown as CallContext & {
      response: { closed: boolean }
    }

  beforeEach(() => {
    ;[made, ends] = [[], []]
  })

  it('makes an address wait for its own calls only', async () => {
    const handle = callsPerCaller(dear, { concurrentCalls: 2, trustedProxies: 0, answerMs: 60_000 })
    for (const name of ['a1', 'a2', 'a3']) void handle([name], from('203.0.113.1'))
    void handle(['b1'], from('203.0.113.2'))
    await nextTurn()
    expect(made).to.deep.equal(['a1', 'a2', 'b1'])
    ends[0]?.()
    await nextTurn()
    expect(made).to.deep.equal(['a1', 'a2', 'b1', 'a3'])
  })

  it('takes the address that a trusted proxy tells', async () => {
    const handle = callsPerCaller(dear, { concurrentCalls: 1, trustedProxies: 1, answerMs: 60_000 })
    for (const address of ['203.0.113.1', '203.0.113.2', '203.0.113.1']) {
      void handle([address], from('10.0.0.1', { 'x-forwarded-for': address }))
    }
    await nextTurn()
    expect(made).to.deep.equal(['203.0.113.1', '203.0.113.2'])
  })

  it('does not make a call whose answer nobody reads any more', async () => {
    const handle = callsPerCaller(dear, { concurrentCalls: 1, trustedProxies: 0, answerMs: 60_000 })
    const gone = from('203.0.113.1')
    void handle(['first'], from('203.0.113.1'))
    const unmade = handle(['gone'], gone) as Promise<unknown>
    gone.response.closed = true
    await nextTurn()
    ends[0]?.()
    const refusal = await unmade.catch((error: unknown) => error)
    expect(refusal).to.have.property('code', 'UPSTREAM_UNAVAILABLE')
    expect(made).to.deep.equal(['first'])
  })

  it('does not make a call that has waited for longer than an answer may take', async () => {
    const handle = callsPerCaller(dear, { concurrentCalls: 1, trustedProxies: 0, answerMs: 0 })
    const refusal = await (handle(['late'], from('203.0.113.1')) as Promise<unknown>).catch((error: unknown) => error)
    expect(refusal).to.have.property('code', 'UPSTREAM_UNAVAILABLE')
    expect(made).to.be.empty
  })
})
