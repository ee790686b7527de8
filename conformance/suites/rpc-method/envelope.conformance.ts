import { type Answer, describeAnswer, errorOf, isServed, memberOf, objectOf } from '../../lib/answer.ts'
import { type CheckContext, clause } from '../../lib/clause.ts'
import { accountOf, type BalanceAt, differentBalances, isOfAnother } from '../../lib/eth-rpc/accounts.ts'
import { shortRange } from '../../lib/eth-rpc/filters.ts'
import { requireLogs } from '../../lib/eth-rpc/gather.ts'
import { eventually, inTime } from '../../lib/eth-rpc/head.ts'
import { findTransaction, isAbout, knownTransactions, type LookUp } from '../../lib/eth-rpc/known-transactions.ts'
import { logsOf } from '../../lib/eth-rpc/logs.ts'
import {
  inventedMethod,
  type ListedMethod,
  methodsWithoutParameters,
  sampleAddress,
  unknownAddress,
} from '../../lib/eth-rpc/methods.ts'
import { isWithoutMeaning } from '../../lib/eth-rpc/prices.ts'
import { expectChainId, expectNumber, requireRpcService } from '../../lib/eth-rpc/serve.ts'
import { isNumber, numberOf, quantity, readingsOf } from '../../lib/eth-rpc/values.ts'
import { expect, requireServed } from '../../lib/expect.ts'
import { stringify } from '../../lib/lossless-json.ts'
import { Fault, Untestable } from '../../lib/outcome.ts'

/** Ids that every JSON parser reads exactly. */
const ids = [0, 1, 4_294_967_296, Number.MAX_SAFE_INTEGER, -1]
/** Ids beyond 2^53, which a parser that reads doubles changes. */
const longIds = [2n ** 53n + 1n, 2n ** 63n - 1n]

const askWith = (t: CheckContext, id: number | bigint) => (): Promise<Answer> =>
  t.rpc.send({ id, jsonrpc: '2.0', method: 'eth_chainId', params: [] })

/**
 * The answer does not have the id of another request. It may have none, since the document shows no response
 * envelope.
 *
 * @throws Fault when the id is another
 */
function expectSameId(answer: Answer, id: number | bigint): void {
  const found = memberOf(answer, 'id') ?? undefined
  if (found === undefined || stringify(found).replaceAll('"', '') === String(id)) return
  throw new Fault('the response has another identifier than the request', {
    expected: `${id}`,
    actual: describeAnswer(answer),
    answer,
  })
}

type Response = Readonly<Record<string, unknown>>

/**
 * The responses by id, in any order.
 *
 * @throws Fault when an id has no response or several
 */
function responsesById(answer: Answer, ids: readonly number[]): Map<number, Response> {
  const { json } = answer
  const found = Array.isArray(json) ? (json as (Response | null)[]).map((response) => response?.['id']) : undefined
  if (!found || found.length !== ids.length || !ids.every((id) => found.includes(id))) {
    throw new Fault('there is not one response for each request', {
      expected: `an array with one response for each of the ids ${ids.join(', ')}`,
      actual: describeAnswer(answer),
      answer,
    })
  }
  return new Map((json as Response[]).map((response) => [Number(response['id']), response]))
}

/** A request of a batch and what the target answers to it. */
interface InBatch {
  readonly answer: Answer
  readonly params: readonly unknown[]
  readonly response: Response
}

/**
 * Asks for the same method several times in one batch. Three requests at most, since some targets take no longer batches.
 *
 * @throws Fault when there is not one response for each request
 */
async function askTogether(t: CheckContext, method: ListedMethod, all: readonly (readonly unknown[])[]) {
  const few = all.slice(0, 3).map((params, index) => ({ id: 41 + index, jsonrpc: '2.0', method, params }))
  const answer = await t.rpc.send(few)
  const responses = responsesById(
    answer,
    few.map(({ id }) => id),
  )
  return few.map(({ id, params }): InBatch => ({ answer, params, response: responses.get(id) ?? {} }))
}

/** The result; undefined where there is an error. How a batch errs is not judged by its results. */
function resultIn({ response }: InBatch): unknown {
  return (response['error'] ?? null) === null ? response['result'] : undefined
}

function mixedUp(method: ListedMethod, { answer, params, response }: InBatch, expected: string): Fault {
  return new Fault(`${method} ${JSON.stringify(params)} has another result in a batch than alone`, {
    expected,
    actual: stringify(response).slice(0, 300),
    answer,
  })
}

/** @throws Fault when an account is told the balance of another one of the batch */
async function expectOwnBalances(t: CheckContext): Promise<void> {
  const method = 'eth_getBalance'
  const steps = await differentBalances(t)
  if (steps.length === 0) return t.observe('not seen: several accounts with different balances')
  const asked = await askTogether(
    t,
    method,
    steps.map(({ address, block }) => [address, quantity(block)]),
  )
  for (const [index, one] of asked.entries()) {
    const step = steps[index] as BalanceAt
    if (!(await isOfAnother(t, steps, step, resultIn(one)))) continue
    throw mixedUp(method, one, `the balance of ${step.address}: ${step.balance}`)
  }
}

/** @throws Fault when a hash is answered with null, or with another transaction of the batch */
async function expectOwnTransactions(t: CheckContext, method: LookUp): Promise<void> {
  // The oldest ones, which every node has by now.
  const hashes = (await knownTransactions(t)).map(({ hash }) => hash).slice(-3)
  if (hashes.length < 2) return t.observe('not seen: several transactions')
  for (const hash of hashes) await findTransaction(t, method, hash)
  const ask = async () => {
    const asked = await askTogether(
      t,
      method,
      hashes.map((hash) => [hash]),
    )
    const expected = (index: number) => `what belongs to ${hashes[index]}`
    for (const [index, one] of asked.entries()) {
      const result = resultIn(one) ?? undefined
      if (result !== undefined && !isAbout(method, result, hashes[index] ?? ''))
        throw mixedUp(method, one, expected(index))
    }
    const unknown = asked.findIndex((one) => resultIn(one) === null)
    return unknown < 0 ? undefined : mixedUp(method, asked[unknown] as InBatch, expected(unknown))
  }
  // A node behind the same address may not have the block yet.
  const fault = await eventually(t, ask, (found) => found === undefined)
  if (fault) throw fault
}

/** @throws Fault when a filter is answered with the logs of another filter of the batch, or with none */
async function expectOwnLogs(t: CheckContext): Promise<void> {
  const method = 'eth_getLogs'
  await requireLogs(t)
  const { filter } = await shortRange(t)
  await inTime(t, async () => {
    const asked = await askTogether(t, method, [[filter], [{ ...filter, address: unknownAddress() }]])
    for (const [index, one] of asked.entries()) {
      const result = resultIn(one)
      if (result === undefined) continue
      const hasLogs = logsOf(result, { answer: one.answer }).length > 0
      if (hasLogs !== (index === 0)) throw mixedUp(method, one, index === 0 ? 'some entries' : 'an empty list')
    }
  })
}

/** Requests that a target serves, and requests that it refuses. */
const sampleRequests = {
  served: [
    { method: 'eth_chainId', params: [] },
    { method: 'eth_blockNumber', params: [] },
  ],
  refused: [
    { method: inventedMethod, params: [] },
    { method: 'eth_getBalance', params: ['0x12', 'latest'] },
  ],
} as const

/** Sends the samples of one kind with the ids that the caller chooses. */
async function askSamples(
  t: CheckContext,
  kind: keyof typeof sampleRequests,
  idOf: (index: number) => number | string = (index) => index + 1,
): Promise<{ readonly id: number | string; readonly answer: Answer }[]> {
  const answers = []
  for (const [index, { method, params }] of sampleRequests[kind].entries()) {
    const id = idOf(index)
    answers.push({ id, answer: await t.rpc.send({ id, jsonrpc: '2.0', method, params }) })
  }
  return answers
}

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

const requestOf = (method: string, params: readonly unknown[]) => ({ id: 1, jsonrpc: '2.0', method, params })
const completeRequest = JSON.stringify(requestOf('eth_chainId', []))

/** What is wrong, the body, its accepted twin, and the code that JSON-RPC 2.0 gives to the error. */
const wrongRequests: readonly (readonly [string, string, string, number])[] = [
  ['what is not JSON', completeRequest.slice(0, -1), completeRequest, -32700],
  ['what names no method', '{"id":1,"jsonrpc":"2.0","params":[]}', completeRequest, -32600],
  ['a method that is no string', '{"id":1,"jsonrpc":"2.0","method":1,"params":[]}', completeRequest, -32600],
  ['an unknown method', JSON.stringify(requestOf(inventedMethod, [])), completeRequest, -32601],
  [
    'bad parameters',
    JSON.stringify(requestOf('eth_getBalance', ['0x12', 'latest'])),
    JSON.stringify(requestOf('eth_getBalance', [sampleAddress, 'latest'])),
    -32602,
  ],
]

export default [
  clause('eth-rpc.envelope.id-integer', (check) => {
    for (const id of ids) {
      check(`the id ${id} is accepted`, async (t) => {
        const { answer } = await expectChainId(t, { of: 'eth-rpc.envelope.id-integer', ask: askWith(t, id) })
        expectSameId(answer, id)
      })
    }

    for (const id of longIds) {
      check(`the id ${id} is refused, or accepted with all of its digits`, async (t) => {
        await expectChainId(t)
        const answer = await askWith(t, id)()
        if (isServed(answer)) expectSameId(answer, id)
        else t.observe(`the id ${id}, beyond 2^53, is refused`)
      })
    }

    // A target that keeps the id in one place for all requests mixes them up.
    check('requests that come at once get each their own id', async (t) => {
      await expectChainId(t)
      const ids = [70_001, 70_002, 70_003, 70_004]
      const answers = await Promise.all(ids.map((id) => askWith(t, id)()))
      for (const [index, answer] of answers.entries()) if (isServed(answer)) expectSameId(answer, ids[index] ?? 0)
    })
  }),

  clause('eth-rpc.envelope.version', (check) => {
    check('jsonrpc "2.0" is accepted', async (t) => void (await expectChainId(t)))
  }),

  clause('eth-rpc.envelope.params-positional', (check) => {
    check('the first element is the address, the second the block', async (t) => {
      await expectNumber(t, 'eth_getBalance', [await accountOf(t), 'latest'], 'a balance')
    })
  }),

  clause('eth-rpc.envelope.params-empty', (check) => {
    for (const method of methodsWithoutParameters) {
      check(`${method} with an empty array`, async (t) => {
        if (await isWithoutMeaning(t, method)) return
        await expectNumber(t, method, [], 'a number')
      })
    }
  }),

  clause('eth-rpc.batch', (check) => {
    check('one response for each request', async (t) => {
      const { result: chainId } = await expectChainId(t)
      const answer = await t.rpc.send([
        { id: 11, jsonrpc: '2.0', method: 'eth_chainId', params: [] },
        { id: 12, jsonrpc: '2.0', method: 'eth_getBalance', params: [await accountOf(t), 'latest'] },
        { id: 13, jsonrpc: '2.0', method: 'eth_blockNumber', params: [] },
      ])
      for (const [id, response] of responsesById(answer, [11, 12, 13])) {
        const numbers = readingsOf(response['result'])
        // A batch may write a number in another form than a single answer does.
        if (id === 11 ? numbers.some((number) => isNumber(chainId, number)) : numbers.length > 0) continue
        throw new Fault(`the request ${id} of the batch is not served`, {
          expected: 'the result of its method',
          actual: JSON.stringify(response),
          answer,
        })
      }
    })

    check('a batch of one is answered by an array', async (t) => {
      await requireRpcService(t)
      responsesById(await t.rpc.send([{ id: 21, jsonrpc: '2.0', method: 'eth_chainId', params: [] }]), [21])
    })

    check('an error of one leaves the others served', async (t) => {
      await requireRpcService(t)
      const answer = await t.rpc.send([
        { id: 31, jsonrpc: '2.0', method: inventedMethod, params: [] },
        { id: 32, jsonrpc: '2.0', method: 'eth_chainId', params: [] },
      ])
      const responses = responsesById(answer, [31, 32])
      if (responses.get(31)?.['error'] && numberOf(responses.get(32)?.['result']) !== undefined) return
      throw new Fault('the answer does not answer each request by itself', {
        expected: 'an error for id 31, a result for id 32',
        actual: describeAnswer(answer),
        answer,
      })
    })

    check('several balances of a batch: each its own', { needs: ['chain'] }, async (t) => {
      await expectChainId(t)
      await expectOwnBalances(t)
    })

    for (const method of ['eth_getTransactionByHash', 'eth_getTransactionReceipt'] as const) {
      check(`several ${method} of a batch: each its own`, { needs: ['chain'] }, (t) => expectOwnTransactions(t, method))
    }

    check('several filters of a batch: the logs of each', { needs: ['chain', 'fixture'] }, expectOwnLogs)

    check('an empty array is answered by one error', async (t) => {
      await requireRpcService(t)
      const answer = await t.rpc.send([])
      if (errorOf(answer) === undefined) {
        throw new Fault('the answer is not one error', {
          expected: 'one object with an error',
          actual: describeAnswer(answer),
          answer,
        })
      }
    })
  }),

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
              // Another number is the id of another request, which the document forbids. What errors hold is not shown.
              ...(kind === 'served' && typeof id === 'number' && typeof found === 'number'
                ? { of: 'eth-rpc.envelope.id-integer' }
                : {}),
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
    for (const [what, body, twin, code] of wrongRequests) {
      check(`${code} for ${what}`, async (t) => {
        requireServed(await t.rpc.sendRaw(twin))
        const answer = await t.rpc.sendRaw(body)
        expect(answer).to.have.rpcErrorCode(code)
      })
    }
  }),
]
