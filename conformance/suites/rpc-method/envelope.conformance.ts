import { type Answer, describeAnswer, isServed, memberOf } from '../../lib/answer.ts'
import { type CheckContext, clause } from '../../lib/clause.ts'
import { accountOf } from '../../lib/eth-rpc/accounts.ts'
import { expectChainId, expectNumber } from '../../lib/eth-rpc/serve.ts'
import { methodsWithoutParameters } from '../../lib/eth-rpc/methods.ts'
import { isWithoutMeaning } from '../../lib/eth-rpc/prices.ts'
import { stringify } from '../../lib/lossless-json.ts'
import { Fault } from '../../lib/outcome.ts'

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
]
