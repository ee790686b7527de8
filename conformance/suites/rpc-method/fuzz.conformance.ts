import { isDeepStrictEqual } from 'node:util'
import { describeAnswer, isServed, objectOf } from '../../lib/answer.ts'
import { type CheckContext, clause } from '../../lib/clause.ts'
import { walkPages } from '../../lib/eth-rpc/gather.ts'
import { expectSameLogs, logsOf } from '../../lib/eth-rpc/logs.ts'
import { numberOf } from '../../lib/eth-rpc/quantity.ts'
import { expectSameFields } from '../../lib/eth-rpc/same-fields.ts'
import { sampleAddress, unknownHash } from '../../lib/eth-rpc/methods.ts'
import { findWayOfPaging } from '../../lib/eth-rpc/first-page.ts'
import { resultOf } from '../../lib/expect.ts'
import { breakages, broken, plainSpelling, spell, spellings } from '../../lib/fuzz/changes.ts'
import { expectNoServerError, expectProperty, share } from '../../lib/fuzz/property.ts'
import { logFilters, readRequests } from '../../lib/fuzz/requests.ts'
import { Fault } from '../../lib/outcome.ts'
import { pageLimit } from '../../lib/eth-rpc/paging.ts'

const envelope = (method: string, params: readonly unknown[]) => ({ id: 1, jsonrpc: '2.0', method, params })

/** A valid request of each method, which the check then breaks. */
const requests = [
  envelope('eth_blockNumber', []),
  envelope('eth_chainId', []),
  envelope('eth_gasPrice', []),
  envelope('eth_maxPriorityFeePerGas', []),
  envelope('eth_getBalance', [sampleAddress, 'latest']),
  envelope('eth_getLogs', [{ address: sampleAddress, fromBlock: 'latest', toBlock: 'latest', topics: [] }]),
  envelope('eth_getTransactionByHash', [unknownHash()]),
  envelope('eth_getTransactionReceipt', [unknownHash()]),
]

export default [
  clause('eth-rpc.fuzz.no-server-error', (check) => {
    check('requests that were broken at random', async (t) => {
      const { constantFrom, record } = await import('fast-check')
      const cases = record({
        request: constantFrom(...requests),
        changes: await breakages(),
        spelling: await spellings(),
      })
      await expectProperty(t, share(t, 1), cases, async (t, { request, changes, spelling }) => {
        const body = spell(broken(request, changes), spelling)
        await expectNoServerError(() => t.rpc.sendRaw(body))
      })
    })

    check('texts that were cut at random', async (t) => {
      const { constantFrom, nat, record } = await import('fast-check')
      const cases = record({ request: constantFrom(...requests), length: nat(120) })
      await expectProperty(t, share(t, 0.3), cases, async (t, { request, length }) => {
        const body = JSON.stringify(request).slice(0, length)
        await expectNoServerError(() => t.rpc.sendRaw(body))
      })
    })
  }),

  clause('eth-rpc.fuzz.equal-answers', (check) => {
    check('random reads in random spellings', { needs: ['chain', 'fuzz'] }, async (t) => {
      const { record } = await import('fast-check')
      const cases = record({ read: await readRequests(t), spelling: await spellings() })
      await expectProperty(t, share(t, 1), cases, async (t, { read, spelling }) => {
        const request = envelope(read.method, read.params)
        const plain = await t.rpc.sendRaw(spell(request, plainSpelling))
        // Without an answer to the plain form there is nothing to compare with.
        if (!isServed(plain)) return
        const answer = await t.rpc.sendRaw(spell(request, spelling))
        if (isServed(answer) && isDeepStrictEqual(objectOf(answer)?.['result'], objectOf(plain)?.['result'])) return
        throw new Fault('the target answers the same request, written in another way, differently', {
          expected: describeAnswer(plain),
          actual: describeAnswer(answer),
          answer,
        })
      })
    })
  }),

  clause('eth-rpc.fuzz.as-on-chain', (check) => {
    check('random reads of mined blocks', async (t) => {
      await expectProperty(t, share(t, 1), await readRequests(t), async (t, { method, params }) => {
        const truth = await t.chain.attempt(method, params)
        const answer = await t.rpc.call(method, params)
        if ('error' in truth || !isServed(answer) || isLong(truth.result)) return
        if (method === 'eth_getBalance' && (await isNotImported(t, params, truth.result, resultOf(answer)))) return
        expectSameResult(method, truth.result, resultOf(answer), () => describeAnswer(answer))
      })
    })
  }),

  clause('eth-rpc.fuzz.pages-add-up', (check) => {
    check('the pages of random filters', async (t) => {
      const paging = await findWayOfPaging(t)
      await expectProperty(t, share(t, 0.5), await logFilters(t), async (t, { filter, truth }) => {
        const answer = await t.rpc.call('eth_getLogs', [filter])
        if (isServed(answer)) await walkPages(t, { filter, truth, answer }, paging)
      })
    })
  }),
]

/**
 * Whether the target returns nothing for a balance that has stood since the first block. The document says that such
 * balances are not imported.
 */
async function isNotImported({ chain }: CheckContext, params: readonly unknown[], truth: unknown, found: unknown) {
  if (numberOf(found) !== 0n) return false
  const first = await chain.attempt('eth_getBalance', [params[0], '0x0'])
  return 'result' in first && numberOf(first.result) === numberOf(truth)
}

/** Whether the list has more logs than a page, of which the target returns the first page alone. */
function isLong(result: unknown): boolean {
  return Array.isArray(result) && result.length > pageLimit
}

/**
 * The two results say the same: numbers are compared by value, and a member that one of them leaves out is not
 * compared.
 *
 * @throws Fault when they differ
 */
function expectSameResult(method: string, truth: unknown, found: unknown, shown: () => string): void {
  if (Array.isArray(truth)) return expectSameLogs(logsOf(truth), logsOf(found))
  if (typeof truth === 'object' && truth !== null && typeof found === 'object' && found !== null) {
    const fields = Object.keys(truth).filter((name) => name !== 'logs')
    expectSameFields(`the result of ${method}`, fields, truth as Members, found as Members)
    return
  }
  const [expected, actual] = [numberOf(truth), numberOf(found)]
  if (expected === undefined || expected === actual) return
  throw new Fault(`the result of ${method} is not that of the chain`, { expected: `${expected}`, actual: shown() })
}

type Members = Readonly<Record<string, unknown>>
