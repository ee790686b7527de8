import { describeAnswer, isServed, memberOf } from '../../lib/answer.ts'
import { type CheckContext, clause } from '../../lib/clause.ts'
import {
  compareFirstPage,
  findWayOfPaging,
  firstPage,
  type FirstPage,
  isNextPage,
} from '../../lib/eth-rpc/first-page.ts'
import { requireLogs, walkPages } from '../../lib/eth-rpc/gather.ts'
import {
  exactPages,
  longFilters,
  type LongKind,
  otherKinds,
  plainKinds,
  unnumberedFilters,
} from '../../lib/eth-rpc/filters.ts'
import { emitterLogs, type Log, logsOf, placeOf } from '../../lib/eth-rpc/logs.ts'
import {
  askPageAfter,
  describePage,
  entriesOf,
  type Filter,
  type KeySpelling,
  type Paging,
  pageLimit,
} from '../../lib/eth-rpc/paging.ts'
import { numberOf } from '../../lib/eth-rpc/values.ts'
import { expect } from '../../lib/expect.ts'
import { Fault, Untestable } from '../../lib/outcome.ts'

const method = 'eth_getLogs'
const nextPage = 'eth-rpc.eth_getLogs.next-page'

/** Makes sure that a way of paging is known, for checks of what else holds of it. */
async function requireWayOfPaging(t: CheckContext): Promise<Paging> {
  try {
    return await findWayOfPaging(t)
  } catch (error) {
    throw error instanceof Untestable ? new Untestable(error.message, { because: nextPage }) : error
  }
}

/** The keys in this spelling lead to the next page. The check first asks in the known way. */
async function expectSpelling(t: CheckContext, kind: LongKind, spelling: KeySpelling): Promise<FirstPage> {
  const paging = await requireWayOfPaging(t)
  const first = await firstPage(t, kind)
  const { filter, last } = first
  const twin = await askPageAfter(t, filter, last, paging)
  if (!isNextPage(twin, first)) throw new Untestable(`no next page: ${describePage(twin)}`)
  if (paging.spelling === spelling) return first
  const answer = await askPageAfter(t, filter, last, { ...paging, spelling })
  if (isNextPage(answer, first)) return first
  throw new Fault(`the keys, ${spelling}, do not lead to the next page`, {
    expected: describePage(twin),
    actual: describePage(answer),
    answer,
  })
}

/** Whether the entry holds the keys as JSON integers. A client then writes them as hex strings. */
function holdsIntegers(entry: Log): boolean {
  return ['logIndex', 'blockNumber'].some((key) => ['number', 'bigint'].includes(typeof entry[key]))
}

/** The keys as hex strings, with 0x or without, lead to the next page. */
async function expectHexKeys(t: CheckContext, kind: LongKind): Promise<void> {
  t.observe('the entries hold logIndex and blockNumber as JSON integers, from which a client must make hex strings')
  try {
    await expectSpelling(t, kind, 'hex with 0x')
  } catch (error) {
    if (!(error instanceof Fault)) throw error
    await expectSpelling(t, kind, 'hex without 0x')
  }
}

/** The page after the last entry of the chain is an empty list. */
async function expectEnd(t: CheckContext, first: Omit<FirstPage, 'next' | 'last'>): Promise<(readonly Log[])[]> {
  const paging = await requireWayOfPaging(t)
  const { pages, isComplete } = await walkPages(t, first, paging)
  const last = pages.flat().at(-1)
  if (!last || !isComplete) throw new Untestable('the walk did not reach the last log')
  const answer = await askPageAfter(t, first.filter, last, paging)
  const result = memberOf(answer, 'result')
  if (!isServed(answer) || result === null || logsOf(result, { answer }).length > 0) {
    throw new Fault('after the last log of the chain comes no empty page', {
      expected: 'an empty list',
      actual: describePage(answer),
      answer,
    })
  }
  return [...pages]
}

/**
 * The page after an entry, where a filter selects this entry alone; undefined when the target serves no such filter.
 *
 * @returns whether the page holds the entry again
 */
async function comesAgain(t: CheckContext, log: Log, paging: Paging) {
  const { address, blockNumber, topics } = log
  const [, sequence] = topics as readonly unknown[]
  const filter = { address, fromBlock: blockNumber, toBlock: blockNumber, topics: [null, sequence] }
  const [entry, ...others] = entriesOf(await t.rpc.call(method, [filter])) ?? []
  if (!entry || others.length > 0 || placeOf(entry) !== placeOf(log)) return undefined
  const answer = await askPageAfter(t, filter, entry, paging)
  const isAgain = entriesOf(answer)?.some((found) => placeOf(found) === placeOf(log)) ?? false
  return { answer, isAgain }
}

/**
 * An entry with the log index zero does not come again after itself. The check first asks after an entry of the same block
 * with another index: what follows the last entry is not shown.
 *
 * @throws Fault when the target reads the key zero as no key
 */
async function expectZeroAsKey(t: CheckContext): Promise<void> {
  const paging = await requireWayOfPaging(t)
  const { all } = await emitterLogs(t)
  const zero = all.find(({ logIndex }) => numberOf(logIndex) === 0n)
  const twin = all.find(({ blockNumber, logIndex }) => blockNumber === zero?.['blockNumber'] && logIndex !== '0x0')
  if (!zero || !twin) return t.observe('not seen: a log of the fixture with the index zero')
  const beside = await comesAgain(t, twin, paging)
  if (!beside || beside.isAgain) return t.observe('not judged: what follows the only entry of a filter by topics')
  const { answer, isAgain } = (await comesAgain(t, zero, paging)) ?? {}
  if (!isAgain || !answer) return
  throw new Fault('after the entry with the log index zero comes this entry again', {
    expected: 'no entry that came before, as after an entry with another index',
    actual: describePage(answer),
    answer,
  })
}

/**
 * The number of entries in the answer; undefined when the target refuses the request.
 *
 * @throws Fault when there are more than a page holds
 */
async function lengthOf(t: CheckContext, params: readonly unknown[]): Promise<number | undefined> {
  const answer = await t.rpc.call(method, params)
  // A target that refuses a filter does not return too much.
  if (!isServed(answer)) return undefined
  const { length } = logsOf(memberOf(answer, 'result'), { answer, of: 'eth-rpc.eth_getLogs.success' })
  expect(length, `entries in the answer to ${JSON.stringify(params)}`)
    .shownBy(answer)
    .to.be.at.most(pageLimit)
  return length
}

/** Every form of a filter that selects more than a page. */
async function longForms(t: CheckContext): Promise<Filter[]> {
  const [range, block, byTopic, ofTwo] = (
    await Promise.all(
      (['over several blocks', 'inside one block', ...otherKinds] as const).map((kind) => longFilters(t, kind)),
    )
  ).map(({ long }) => long)
  const [whole] = range ?? []
  const [dense] = block ?? []
  const { address, fromBlock, toBlock } = whole?.filter ?? {}
  return [
    ...[range, block, byTopic, ofTwo].flatMap((known) => (known?.[0] ? [known[0].filter] : [])),
    ...[range?.[1], byTopic?.[1]].flatMap((known) => (known ? [known.filter] : [])),
    { ...whole?.filter, topics: [] },
    { ...whole?.filter, address: [address] },
    { fromBlock, toBlock },
    { topics: byTopic?.at(-1)?.filter['topics'], fromBlock, toBlock },
    { ...whole?.filter, fromBlock: 'earliest', toBlock: 'latest' },
    { address, fromBlock },
    { address: dense?.filter['address'], blockHash: dense?.truth[0]?.['blockHash'] },
  ]
}

export default [
  clause('eth-rpc.eth_getLogs.max-1000', (check) => {
    check('however the filter is put', async (t) => {
      const forms = await longForms(t)
      let isAnyServed = false
      for (const filter of forms) isAnyServed = ((await lengthOf(t, [filter])) ?? 0) > 0 || isAnyServed
      if (!isAnyServed) throw new Untestable('no filter that selects more than a page is served')
    })

    // The document shows no batches. Who serves them returns no more entries by them.
    check('in a batch, where batches are served', async (t) => {
      const [long] = (await longFilters(t, 'over several blocks')).long
      const answer = await t.rpc.send([{ id: 1, jsonrpc: '2.0', method, params: [long?.filter] }])
      const [response] = Array.isArray(answer.json) ? (answer.json as ({ readonly result?: unknown } | null)[]) : []
      const entries = Array.isArray(response?.result) ? response.result.length : 0
      expect(entries, 'entries in the answer to a request in a batch').shownBy(answer).to.be.at.most(pageLimit)
    })

    check('later pages hold at most 1000 entries', async (t) => {
      const paging = await requireWayOfPaging(t)
      for (const kind of [...plainKinds, ...otherKinds]) {
        const first = await firstPage(t, kind).catch((error: unknown) => {
          if (error instanceof Untestable) return undefined
          throw error
        })
        if (!first) continue
        const answer = await askPageAfter(t, first.filter, first.last, paging)
        const length = isServed(answer) ? logsOf(memberOf(answer, 'result'), { answer, of: nextPage }).length : 0
        expect(length, `entries in the page after the first, ${kind}`).shownBy(answer).to.be.at.most(pageLimit)
      }
    })
  }),

  clause(nextPage, (check) => {
    check('the keys of the last entry lead to the next page', async (t) => {
      await requireLogs(t)
      await findWayOfPaging(t)
    })

    for (const kind of plainKinds) {
      check(`all pages ${kind}: without gap or repeat`, async (t) => {
        await requireLogs(t)
        const paging = await requireWayOfPaging(t)
        await walkPages(t, await firstPage(t, kind), paging)
      })
    }

    for (const kind of otherKinds) {
      check(`all pages ${kind}, where such a filter is served: without gap or repeat`, async (t) => {
        await requireLogs(t)
        const paging = await requireWayOfPaging(t)
        let first: FirstPage
        try {
          first = await firstPage(t, kind)
        } catch (error) {
          // Another clause judges what the fields of a filter select.
          if (!(error instanceof Fault || error instanceof Untestable)) throw error
          t.observe(`not walked, ${kind}: ${error.message}`)
          return
        }
        await walkPages(t, first, paging)
      })
    }

    check('an index of zero is a key like any other', { needs: ['chain', 'fixture'] }, expectZeroAsKey)

    check('all pages up to the head, and of a block by its hash, where served: without gap or repeat', async (t) => {
      await requireLogs(t)
      const paging = await requireWayOfPaging(t)
      for (const known of await unnumberedFilters(t)) {
        const form = JSON.stringify(known.filter)
        const answer = await t.rpc.call(method, [known.filter])
        if (!isServed(answer)) {
          t.observe(`not walked, since it is refused: ${form}`)
          continue
        }
        try {
          await walkPages(t, { ...known, answer }, paging, { most: 3, later: nextPage })
        } catch (error) {
          // Another clause judges what the fields of a filter select.
          if (!(error instanceof Fault) || error.of !== 'eth-rpc.eth_getLogs.success') throw error
          t.observe(`not walked, ${form}: ${error.message}`)
        }
      }
    })
  }),

  clause('eth-rpc.eth_getLogs.page-keys-verbatim', (check) => {
    for (const kind of plainKinds) {
      check(`${kind}: as they stand in the last entry, where they are hex strings`, async (t) => {
        await requireWayOfPaging(t)
        if (holdsIntegers((await firstPage(t, kind)).last)) return expectHexKeys(t, kind)
        const { last, answer } = await expectSpelling(t, kind, 'as in the entry')
        for (const key of ['logIndex', 'blockNumber']) {
          const isHex = /^(0x)?[0-9a-f]+$/i
          expect(last[key], `${key} of the last entry`).shownBy(answer).to.be.a('string').that.matches(isHex)
        }
      })
    }
  }),

  clause('eth-rpc.eth_getLogs.page-keys-bare-hex', (check) => {
    for (const kind of plainKinds) {
      check(`${kind}: hex digits without 0x`, async (t) => void (await expectSpelling(t, kind, 'hex without 0x')))
    }
  }),

  clause('eth-rpc.eth_getLogs.third-key', (check) => {
    check('what transactionIndex as a third key does', async (t) => {
      const { container, spelling } = await requireWayOfPaging(t)
      const first = await firstPage(t, 'over several blocks')
      const outcome = async (keys: Pick<Paging, 'thirdKey'>) => {
        const answer = await askPageAfter(t, first.filter, first.last, { container, spelling, ...keys })
        return isNextPage(answer, first) ? 'the next page' : describePage(answer)
      }
      const places: Readonly<Record<string, string>> = { second: 'second parameter', filter: 'filter itself' }
      t.observe(`the pagination options are taken in the ${places[container] ?? `${container} of the filter`}`)
      t.observe(`logIndex and blockNumber alone: ${await outcome({})}`)
      t.observe(`with transactionIndex as a third: ${await outcome({ thirdKey: 'transactionIndex' })}`)
    })
  }),

  clause('eth-rpc.eth_getLogs.walk-ends', (check) => {
    check('a page under 1000 is the last one, and nothing follows it', async (t) => {
      const pages = await expectEnd(t, await firstPage(t, 'over several blocks'))
      const short = pages.findIndex(({ length }) => length < pageLimit)
      if (short >= 0 && short < pages.length - 1) {
        throw new Fault(`page ${short + 1} is short, and more entries follow it`, {
          expected: `${pageLimit} entries, or the last page`,
          actual: `${pages[short]?.length} entries, and another page`,
        })
      }
    })

    check('after an exact multiple of 1000 comes an empty page', async (t) => {
      const known = await exactPages(t)
      const answer = await t.rpc.call(method, [known.filter])
      if (!isServed(answer)) throw new Untestable(`the first page is not served: ${describeAnswer(answer)}`)
      await expectEnd(t, { ...known, answer, page: compareFirstPage(known, answer).page })
    })
  }),
]
