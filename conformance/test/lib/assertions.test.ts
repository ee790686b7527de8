import { AssertionError, use } from 'chai'
import { relayAssertions } from '../../lib/assertions.ts'
import { createServer } from 'node:http'
import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { readAnswer } from '../../chai.ts'
import type { Answer } from '../../lib/answer.ts'
import { requireServed } from '../../lib/expect.ts'
import { Fault, Untestable } from '../../lib/outcome.ts'

const { expect } = use(relayAssertions)

function answer(status: number | undefined, text: string): Answer {
  const request = { method: 'POST', url: 'http://127.0.0.1', headers: {} }
  const failure = status === undefined ? { kind: 'closed' as const, message: 'the connection was closed' } : undefined
  let json: unknown
  try {
    json = JSON.parse(text)
  } catch {
    json = undefined
  }
  return {
    status,
    headers: {},
    text,
    json,
    failure,
    durationMs: 1,
    exchange: { request, response: null, ...(failure ? { failure } : {}), durationMs: 1 },
  }
}

/** What a failing assertion throws. */
function faultOf(work: () => unknown): Fault {
  try {
    work()
  } catch (error) {
    if (error instanceof Fault) return error
    throw error
  }
  throw new Error('nothing was thrown')
}

const served = answer(200, '{"jsonrpc":"2.0","id":1,"result":"0x1"}')
const rpcError = answer(200, '{"jsonrpc":"2.0","id":1,"error":{"code":-32602,"message":"no"}}')
const hash = `0x${'ab'.repeat(32)}`
const accepted = answer(200, `{"transactionHash":"${hash}"}`)
const quota = answer(200, '{"quota":5,"unit":"gas","totalQuota":10,"resetDate":1796083200}')

describe('relayAssertions', () => {
  describe('refused', () => {
    const refusals: [number, string][] = [
      [200, '{"error":{"code":-32602,"message":"no"}}'],
      [200, '{"error":"Invalid params"}'],
      [200, '{"result":null,"error":{"code":1}}'],
      [400, '{"error":{"code":-32602,"message":"no"}}'],
      [400, 'Bad Request'],
      [422, ''],
    ]
    for (const [status, text] of refusals) {
      it(`takes ${status} ${text}`, () => {
        expect(answer(status, text)).to.be.refused
      })
    }

    const others: [number | undefined, string][] = [
      [200, '{"result":"0x1"}'],
      [200, '{"result":"0x1","error":{"code":1}}'],
      [400, '{"result":"0x1"}'],
      [200, '{"result":null}'],
      [200, '{}'],
      [200, 'OK'],
      [500, '{"error":{"code":-32602,"message":"no"}}'],
      [502, 'Bad Gateway'],
      [undefined, ''],
    ]
    for (const [status, text] of others) {
      it(`does not take ${status ?? 'no answer'} ${text}`, () => {
        expect(() => expect(answer(status, text)).to.be.refused).to.throw(Fault)
        expect(answer(status, text)).not.to.be.refused
      })
    }
  })

  it('tells what is served from what is not, and shows the answer', () => {
    expect(served).to.be.served
    expect(rpcError).not.to.be.served
    const fault = faultOf(() => expect(rpcError, 'the twin').to.be.served)
    expect(fault).to.be.instanceOf(AssertionError)
    expect(fault.message).to.equal('the twin: the request was not served')
    expect(fault.expected).to.equal('a status of success with a result and no error')
    expect(fault.actual).to.equal(`200 ${rpcError.text}`)
    expect(fault.answer).to.equal(rpcError)
    expect(faultOf(() => expect(served).not.to.be.served).message).to.equal('the request was served')
  })

  it('compares results, and the codes of errors', () => {
    expect(served).to.have.result('0x1')
    expect(answer(200, '{"result":null}')).to.have.result(null)
    expect(faultOf(() => expect(served).to.have.result(null)).message).to.equal('the result is not null')
    expect(rpcError).to.have.rpcErrorCode(-32602)
    expect(faultOf(() => expect(rpcError).to.have.rpcErrorCode(-32601)).expected).to.equal('-32601')
    expect(served).not.to.have.rpcErrorCode(-32602)
  })

  it('knows an accepted call by a hash with a status of success', () => {
    expect(accepted).to.be.accepted
    expect(answer(400, accepted.text)).not.to.be.accepted
    expect(answer(200, '{"transactionHash":"0x12"}')).not.to.be.accepted
    expect(faultOf(() => expect(rpcError).to.be.accepted).message).to.equal('the call was not accepted')
  })

  it('knows a quota by its members', () => {
    expect(quota).to.tellQuota()
    expect(rpcError).not.to.tellQuota()
    const wei = answer(200, quota.text.replace('gas', 'wei'))
    expect(faultOf(() => expect(wei).to.tellQuota())).to.include({ of: 'relay.quota.unit', answer: wei })
    expect(faultOf(() => expect(rpcError).to.tellQuota()).message).to.equal('the answer tells no quota')
  })

  it('holds values against the schemas', () => {
    const schema = 'rpc-method/eth_chainId#/properties/result'
    expect('0x1').to.fit(schema)
    expect(1).not.to.fit(schema)
    expect(faultOf(() => expect(1).to.fit(schema)).message).to.match(/^does not match the schema: the value: /)
    expect(() => expect(1).to.fit('rpc-method/none')).to.throw('no schema rpc-method/none')
  })

  it('lets assertions of chai itself say what shows them, and against what clause', () => {
    const judge = () => expect(5n, 'the head').shownBy(served).against('eth-rpc.eth_blockNumber.success').to.equal(6n)
    expect(faultOf(judge)).to.include({
      message: 'the head: expected 5n to equal 6n',
      expected: '6',
      actual: '5',
      answer: served,
      of: 'eth-rpc.eth_blockNumber.success',
    })
    expect(() => expect(5).to.equal(6))
      .to.throw(AssertionError)
      .and.not.be.instanceOf(Fault)
  })

  it('waits for the transaction of an accepted call', async () => {
    let status: string | null = null
    let asked = 0
    const node = createServer((_request, response) => {
      const receipt = ++asked < 3 || status === null ? null : { status }
      response.end(JSON.stringify({ result: asked === 1 ? '0x1' : receipt }))
    }).listen(0, '127.0.0.1')
    await once(node, 'listening')
    const rpcUrl = `http://127.0.0.1:${(node.address() as AddressInfo).port}`
    const outcome = async (told: Answer) => {
      asked = 0
      return expect(told)
        .to.execute({ rpcUrl, timeoutMs: 50 })
        .then(
          () => 'executed',
          (error: Fault) => error.actual,
        )
    }
    try {
      expect(await outcome(accepted)).to.equal(`${hash} was not mined in time`)
      status = '0x1'
      expect(await outcome(accepted)).to.equal('executed')
      status = '0x0'
      expect(await outcome(accepted)).to.equal(`${hash} reverted`)
      expect(await outcome(rpcError)).to.equal(`200 ${rpcError.text}`)
    } finally {
      node.close()
    }
  })
})

describe('readAnswer', () => {
  it('reads what fetch was answered', async () => {
    const response = new Response(accepted.text, { status: 202, headers: { 'X-Any': 'one' } })
    const read = await readAnswer(response)
    expect(read).to.deep.include({ status: 202, text: accepted.text, json: accepted.json })
    expect(read.headers).to.have.property('x-any', 'one')
    expect(read).to.be.accepted
    expect(await readAnswer(new Response('OK'))).to.have.property('json', undefined)
  })
})

describe('requireServed', () => {
  it('makes a check untestable when the twin is refused', () => {
    expect(() => requireServed(answer(200, '{"result":null}'))).not.to.throw()
    expect(() => requireServed(answer(200, '{"error":{}}'))).to.throw(Untestable, 'not served either')
  })
})
