import { getAddress } from 'ethers'
import type { Arbitrary } from 'fast-check'
import { isDeepStrictEqual } from 'node:util'
import { describeAnswer, isServed } from '../../lib/answer.ts'
import { type CheckContext, clause } from '../../lib/clause.ts'
import { accountsOf } from '../../lib/eth-rpc/accounts.ts'
import type { KnownFilter } from '../../lib/eth-rpc/filters.ts'
import { findWayOfPaging } from '../../lib/eth-rpc/first-page.ts'
import { walkPages } from '../../lib/eth-rpc/gather.ts'
import { readHead } from '../../lib/eth-rpc/head.ts'
import { knownTransactions } from '../../lib/eth-rpc/known-transactions.ts'
import { emitterLogs, expectSameLogs, inOrder, type Log, logsBetween, logsOf, pageOf } from '../../lib/eth-rpc/logs.ts'
import { sampleAddress, unknownHash } from '../../lib/eth-rpc/methods.ts'
import { pageLimit } from '../../lib/eth-rpc/paging.ts'
import { expectSameFields, isNumber, numberOf, quantity } from '../../lib/eth-rpc/values.ts'
import { resultOf } from '../../lib/expect.ts'
import {
  breakages,
  broken,
  expectNoServerError,
  expectProperty,
  plainSpelling,
  share,
  spell,
  spellings,
} from '../../lib/fuzz.ts'
import { Fault } from '../../lib/outcome.ts'

/** A request whose answer does not change during a run. */
interface ReadRequest {
  readonly method:
    | 'eth_chainId'
    | 'eth_getBalance'
    | 'eth_getTransactionByHash'
    | 'eth_getTransactionReceipt'
    | 'eth_getLogs'
  readonly params: readonly unknown[]
}

/** Nodes keep the state of the last 60 blocks at least. Ordinary reorganisations reach no further than 2 blocks. */
const [oldestBack, youngestBack] = [60n, 2n]

function spellingsOf(account: string): string[] {
  return [account.toLowerCase(), getAddress(account.toLowerCase())]
}

/**
 * Addresses and blocks for eth_getLogs: other accounts, and the fixture's emitter in its blocks, which needs no
 * state.
 */
async function logsOfBlocks(
  t: CheckContext,
  others: Arbitrary<[string, string]>,
): Promise<Arbitrary<[string, string]>> {
  const { constantFrom, oneof, tuple } = await import('fast-check')
  if (!t.hasFixture || !t.fixture.logs) return others
  const { emitter, all } = await emitterLogs(t)
  const blocks = [...new Set(all.map((log) => String(log['blockNumber'])))]
  return oneof(others, tuple(constantFrom(...spellingsOf(emitter)), constantFrom(...blocks)))
}

/** Reads of mined blocks that are old enough not to change, and young enough that nodes keep their state. */
async function readRequests(t: CheckContext): Promise<Arbitrary<ReadRequest>> {
  const { constantFrom, oneof, tuple } = await import('fast-check')
  const head = await readHead(t.chain)
  const back = Array.from({ length: Number(oldestBack - youngestBack) + 1 }, (_, index) => youngestBack + BigInt(index))
  const young = back.map((distance) => head - distance).filter((block) => block >= 0n)
  const blocks = constantFrom(...(young.length > 0 ? young : [head])).map(quantity)
  const known = [...(await accountsOf(t)), sampleAddress]
  const accounts = constantFrom(...known.flatMap(spellingsOf))
  const hashes = constantFrom(...(await knownTransactions(t)).map(({ hash }) => hash))
  const read =
    (method: ReadRequest['method']) =>
    (params: readonly unknown[]): ReadRequest => ({ method, params })
  return oneof(
    tuple(accounts, blocks).map(read('eth_getBalance')),
    tuple(hashes).map(read('eth_getTransactionByHash')),
    tuple(hashes).map(read('eth_getTransactionReceipt')),
    (await logsOfBlocks(t, tuple(accounts, blocks))).map(([address, block]) =>
      read('eth_getLogs')([{ address, fromBlock: block, toBlock: block }]),
    ),
    constantFrom(read('eth_chainId')([])),
  )
}

/** What a position of `topics` selects. */
type Wanted = null | string | readonly string[]

function topicsOf(log: Log): readonly string[] {
  const { topics } = log
  return Array.isArray(topics) ? topics.filter((topic): topic is string => typeof topic === 'string') : []
}

function matches(log: Log, wanted: readonly Wanted[]): boolean {
  const topics = topicsOf(log)
  return wanted.every((want, position) => {
    if (want === null) return topics.length > position
    const found = topics[position]
    return found !== undefined && (typeof want === 'string' ? want === found : want.includes(found))
  })
}

type Form = 'any' | 'one' | 'several'

/** A value for a position that selects the first log: any value, its own value, or its own among others. */
function wantedAt(position: number, form: Form, [log, ...others]: readonly Log[]): Wanted {
  const own = topicsOf(log ?? {})[position]
  if (form === 'any' || own === undefined) return null
  if (form === 'one') return own
  return [...others.flatMap((other) => topicsOf(other)[position] ?? []), own]
}

/** Random filters over the fixture's logs. Each selects at least one log. */
async function logFilters(t: CheckContext): Promise<Arbitrary<KnownFilter>> {
  const { array, boolean, constantFrom, nat, record } = await import('fast-check')
  const logs = await emitterLogs(t)
  const span = Number(logs.toBlock - logs.fromBlock)
  const choice = record({
    picked: array(nat(logs.all.length - 1), { minLength: 1, maxLength: 3 }),
    before: nat(span),
    after: nat(span),
    isOneOfMany: boolean(),
    forms: array(constantFrom<Form>('any', 'one', 'several'), { maxLength: 2 }),
  })
  return choice.map(({ picked, before, after, isOneOfMany, forms }) => {
    const chosen: Log[] = picked.flatMap((index) => (logs.all[index] ? [logs.all[index]] : []))
    const block = numberOf(chosen[0]?.['blockNumber']) ?? logs.fromBlock
    const fromBlock = max(logs.fromBlock, block - BigInt(before))
    const toBlock = -max(-logs.toBlock, -block - BigInt(after))
    const topics = forms.map((form, position) => wantedAt(position, form, chosen))
    return {
      filter: {
        address: isOneOfMany ? [sampleAddress, logs.emitter] : logs.emitter,
        fromBlock: quantity(fromBlock),
        toBlock: quantity(toBlock),
        ...(topics.length > 0 ? { topics } : {}),
      },
      truth: logsBetween(logs, fromBlock, toBlock).filter((log) => matches(log, topics)),
    }
  })
}

function max(a: bigint, b: bigint): bigint {
  return a > b ? a : b
}

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

/** Whether two answers to one request are equal. The document shows neither the order nor the length of a page of logs. */
function isSameResult(method: string, one: unknown, other: unknown): boolean {
  if (method !== 'eth_getLogs' || !Array.isArray(one) || !Array.isArray(other)) return isDeepStrictEqual(one, other)
  const [page = [], longer = []] = [inOrder(logsOf(one)), inOrder(logsOf(other))].sort((a, b) => a.length - b.length)
  return isDeepStrictEqual(page, pageOf(longer, page))
}

/**
 * The two results say the same: numbers are compared by value, and a member that one of them leaves out is not
 * compared.
 *
 * @throws Fault when they differ
 */
function expectSameResult(method: string, truth: unknown, found: unknown, shown: () => string): void {
  if (Array.isArray(truth)) return expectSameLogs(pageOf(logsOf(truth), logsOf(found)), logsOf(found))
  if (typeof truth === 'object' && truth !== null && typeof found === 'object' && found !== null) {
    const fields = Object.keys(truth).filter((name) => name !== 'logs')
    expectSameFields(`the result of ${method}`, fields, truth as Members, found as Members)
    return
  }
  const expected = numberOf(truth)
  if (expected === undefined || isNumber(found, expected)) return
  throw new Fault(`the result of ${method} is not that of the chain`, { expected: `${expected}`, actual: shown() })
}

type Members = Readonly<Record<string, unknown>>

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
        if (isServed(answer) && isSameResult(read.method, resultOf(plain), resultOf(answer))) return
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
