import { type Answer, describeAnswer, errorOf, objectOf } from '../../lib/answer.ts'
import { clause } from '../../lib/clause.ts'
import { askSamples, requireRpcService } from '../../lib/eth-rpc/sample-requests.ts'
import { inventedMethod, sampleAddress } from '../../lib/eth-rpc/methods.ts'
import { expect, requireServed } from '../../lib/expect.ts'
import { Fault, Untestable } from '../../lib/outcome.ts'

function expectEnvelope(answer: Answer): void {
  const fault = (message: string, expected: string) =>
    new Fault(message, { expected, actual: describeAnswer(answer), answer })
  const body = objectOf(answer)
  if (!body) throw fault('the body is no JSON object', 'a response object')
  if (body['jsonrpc'] !== '2.0') throw fault('jsonrpc is missing or another', 'jsonrpc "2.0"')
  if ('result' in body === 'error' in body) {
    throw fault(`the response has ${'result' in body ? 'both' : 'neither'}`, 'exactly one of result and error')
  }
}

/**
 * The error of the answer.
 *
 * @throws Untestable when there is none: other clauses say when there must be one
 */
function requireError(answer: Answer): unknown {
  const error = errorOf(answer)
  if (error === undefined) throw new Untestable(`the answer holds no error: ${describeAnswer(answer)}`)
  return error
}

const request = (method: string, params: readonly unknown[]) => ({ id: 1, jsonrpc: '2.0', method, params })
const complete = JSON.stringify(request('eth_chainId', []))

/** What is wrong, the body, its accepted twin, and the code that JSON-RPC 2.0 gives to the error. */
const wrong: readonly (readonly [string, string, string, number])[] = [
  ['what is not JSON', complete.slice(0, -1), complete, -32700],
  ['what names no method', '{"id":1,"jsonrpc":"2.0","params":[]}', complete, -32600],
  ['a method that is no string', '{"id":1,"jsonrpc":"2.0","method":1,"params":[]}', complete, -32600],
  ['an unknown method', JSON.stringify(request(inventedMethod, [])), complete, -32601],
  [
    'bad parameters',
    JSON.stringify(request('eth_getBalance', ['0x12', 'latest'])),
    JSON.stringify(request('eth_getBalance', [sampleAddress, 'latest'])),
    -32602,
  ],
]

export default [
  clause('eth-rpc.response.envelope', (check) => {
    for (const kind of ['served', 'refused'] as const) {
      check(`of a request that is ${kind}`, async (t) => {
        await requireRpcService(t)
        for (const { answer } of await askSamples(t, kind)) expectEnvelope(answer)
      })
    }
  }),

  clause('eth-rpc.response.id-echo', (check) => {
    const ids: Readonly<Record<string, (index: number) => number | string>> = {
      'an integer': (index) => 4_294_967_296 + index,
      zero: () => 0,
      'a string': (index) => `5f8ea243-6ef4-45a4-8edc-3de28cff399${index}`,
      'a string of digits': (index) => `${index + 1}`,
    }
    for (const [name, idOf] of Object.entries(ids)) {
      check(`${name} comes back as it was`, async (t) => {
        await requireRpcService(t)
        for (const kind of ['served', 'refused'] as const) {
          for (const { id, answer } of await askSamples(t, kind, idOf)) {
            const found = objectOf(answer)?.['id']
            if (found === id) continue
            throw new Fault('the id is not that of the request', {
              expected: JSON.stringify(id),
              actual: `${JSON.stringify(found) ?? 'no id'} in ${describeAnswer(answer)}`,
              answer,
              // Another number is the id of another request, which the document forbids.
              ...(typeof id === 'number' && typeof found === 'number' ? { of: 'eth-rpc.envelope.id-integer' } : {}),
            })
          }
        }
      })
    }
  }),

  clause('eth-rpc.response.error-object', (check) => {
    check('has an integer code and a string message', async (t) => {
      await requireRpcService(t)
      for (const { answer } of await askSamples(t, 'refused')) {
        const error = requireError(answer) as { code?: unknown; message?: unknown }
        expect(error.code, 'the code of the error').shownBy(answer).to.satisfy(Number.isInteger)
        expect(error.message, 'the message of the error').shownBy(answer).to.be.a('string')
      }
    })
  }),

  clause('eth-rpc.response.error-codes', (check) => {
    for (const [what, body, twin, code] of wrong) {
      check(`${code} for ${what}`, async (t) => {
        requireServed(await t.rpc.sendRaw(twin))
        const answer = await t.rpc.sendRaw(body)
        expect(answer).to.have.rpcErrorCode(code)
      })
    }
  }),
]
