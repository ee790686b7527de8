import { expect } from 'chai'
import type { Answer } from '../../../lib/answer.ts'
import { expectRefused, requireServed } from '../../../lib/eth-rpc/expect-refused.ts'
import { Fault, Untestable } from '../../../lib/outcome.ts'

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

describe('expectRefused', () => {
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
      expect(() => expectRefused(answer(status, text))).not.to.throw()
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
      expect(() => expectRefused(answer(status, text))).to.throw(Fault)
    })
  }
})

describe('requireServed', () => {
  it('makes a check untestable when the twin is refused', () => {
    expect(() => requireServed(answer(200, '{"result":null}'))).not.to.throw()
    expect(() => requireServed(answer(200, '{"error":{}}'))).to.throw(Untestable, 'not served either')
  })
})
