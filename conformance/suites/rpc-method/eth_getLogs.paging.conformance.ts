import { describe } from '../../lib/answer.ts'
import { clause } from '../../lib/clause.ts'
import type { CheckContext } from '../../lib/context.ts'
import { isServed, served } from '../../lib/expect-rpc.ts'
import { firstPage, longKinds, type FirstPage, type LongKind } from '../../lib/eth-rpc/first-page.ts'
import { exactPages, oneBlock, pageLimit, wholeRange, type KnownFilter } from '../../lib/eth-rpc/long-filters.ts'
import { comparePositions, expectSameLogs, logsOf, positionOf } from '../../lib/eth-rpc/logs.ts'
import { askPageAfter, describePage, isPageAfter, type KeySpelling, type Paging } from '../../lib/eth-rpc/paging.ts'
import { walk } from '../../lib/eth-rpc/walk.ts'
import { findWayOfPaging, requireWayOfPaging } from '../../lib/eth-rpc/way-of-paging.ts'
import { Fault, Untestable } from '../../lib/outcome.ts'

const method = 'eth_getLogs'

/** The keys in this spelling lead to the next page. The way that is known to lead there is asked first. */
async function expectSpelling(t: CheckContext, kind: LongKind, spelling: KeySpelling): Promise<FirstPage> {
  const paging = await requireWayOfPaging(t)
  const first = await firstPage(t, kind)
  const { filter, last, next } = first
  const twin = await askPageAfter(t, filter, last, paging)
  if (!isPageAfter(twin, last, positionOf(next))) throw new Untestable(`no next page: ${describePage(twin)}`)
  if (paging.spelling === spelling) return first
  const answer = await askPageAfter(t, filter, last, { ...paging, spelling })
  if (isPageAfter(answer, last, positionOf(next))) return first
  throw new Fault(`the keys, ${spelling}, do not lead to the next page`, {
    expected: describePage(twin),
    actual: describePage(answer),
  })
}

/** After the last entry of the chain comes an empty list. */
async function expectEnd(
  t: CheckContext,
  { filter, truth, page }: KnownFilter & Pick<FirstPage, 'page'>,
  paging: Paging,
) {
  const pages = await walk(t, { filter, truth, page }, paging)
  const entries = pages.flat()
  const last = entries.at(-1)
  if (!last || entries.length < truth.length) throw new Untestable('the walk did not reach the last log')
  const answer = await askPageAfter(t, filter, last, paging)
  if (logsOf(served(answer)).length > 0) {
    throw new Fault('a page follows the last log of the chain', {
      expected: 'an empty list',
      actual: describePage(answer),
    })
  }
  return pages
}

export default [
  clause('eth-rpc.eth_getLogs.max-1000', (check) => {
    check('however the filter is put', async (t) => {
      const [range, block] = [await wholeRange(t), await oneBlock(t)]
      const filters: readonly Readonly<Record<string, unknown>>[] = [
        range.filter,
        { ...range.filter, topics: [] },
        { ...range.filter, address: [range.filter['address']] },
        { fromBlock: range.filter['fromBlock'], toBlock: range.filter['toBlock'] },
        { ...range.filter, fromBlock: 'earliest', toBlock: 'latest' },
        block.filter,
        { address: block.filter['address'], blockHash: block.truth[0]?.['blockHash'] },
      ]
      const refusals: string[] = []
      for (const filter of filters) {
        const answer = await t.rpc.call(method, [filter])
        // To refuse a wide range is no way of returning too much.
        if (!isServed(answer)) {
          refusals.push(describe(answer))
          continue
        }
        const { length } = logsOf(served(answer))
        if (length > pageLimit) {
          throw new Fault(`the answer to ${JSON.stringify(filter)} is longer than a page`, {
            expected: `at most ${pageLimit} entries`,
            actual: `${length} entries`,
          })
        }
        if (length === 0) refusals.push('an empty list, where the chain has more logs than a page')
      }
      if (refusals.length === filters.length) throw new Untestable(`no filter is served: ${refusals[0]}`)
    })
  }),

  clause('eth-rpc.eth_getLogs.next-page', (check) => {
    check('the keys of the last entry lead to the next page', async (t) => {
      const { paging, tried } = await findWayOfPaging(t)
      if (paging) return
      const outcomes = Array.from(tried, ([outcome, ways]) => `${outcome} for ${ways.join('; for ')}`)
      throw new Fault('none of the ways to ask for the next page leads to it', {
        expected: 'what comes strictly after the last entry',
        actual: outcomes.join('\n'),
      })
    })

    for (const kind of longKinds) {
      check(`all pages ${kind}: without gap or repeat`, async (t) => {
        const paging = await requireWayOfPaging(t)
        const first = await firstPage(t, kind)
        const entries = (await walk(t, first, paging)).flat()
        // Whether they stand in order inside a page is a matter of its own.
        expectSameLogs(
          first.truth,
          entries.sort((a, b) => comparePositions(positionOf(a), positionOf(b))),
        )
      })
    }
  }),

  clause('eth-rpc.eth_getLogs.page-keys-verbatim', (check) => {
    for (const kind of longKinds) {
      check(`${kind}: as they stand in the last entry, where they are hex strings`, async (t) => {
        const { last } = await expectSpelling(t, kind, 'as in the entry')
        for (const key of ['logIndex', 'blockNumber']) {
          const value = last[key]
          if (typeof value === 'string' && /^(0x)?[0-9a-f]+$/i.test(value)) continue
          throw new Fault(`${key} of the last entry is no hex string`, {
            expected: 'a hex string, as the pagination object takes it',
            actual: JSON.stringify(value) ?? 'absent',
          })
        }
      })
    }
  }),

  clause('eth-rpc.eth_getLogs.page-keys-bare-hex', (check) => {
    for (const kind of longKinds) {
      check(`${kind}: hex digits without 0x`, async (t) => void (await expectSpelling(t, kind, 'hex without 0x')))
    }
  }),

  clause('eth-rpc.eth_getLogs.third-key', (check) => {
    check('what transactionIndex as a third key does', async (t) => {
      const paging = await requireWayOfPaging(t)
      const { filter, last, next } = await firstPage(t, 'over several blocks')
      const outcome = async (thirdKey: boolean) => {
        const answer = await askPageAfter(t, filter, last, { ...paging, thirdKey })
        return isPageAfter(answer, last, positionOf(next)) ? 'the next page' : describePage(answer)
      }
      t.observe(`the pagination options are taken in the ${paging.place}`)
      t.observe(`logIndex and blockNumber alone: ${await outcome(false)}`)
      t.observe(`with transactionIndex as a third: ${await outcome(true)}`)
    })
  }),

  clause('eth-rpc.eth_getLogs.walk-ends', (check) => {
    check('a page under 1000 is the last one, and nothing follows it', async (t) => {
      const paging = await requireWayOfPaging(t)
      const pages = await expectEnd(t, await firstPage(t, 'over several blocks'), paging)
      const short = pages.findIndex(({ length }) => length < pageLimit)
      if (short >= 0 && short < pages.length - 1) {
        throw new Fault(`page ${short + 1} is short, and more entries follow it`, {
          expected: `${pageLimit} entries, or the last page`,
          actual: `${pages[short]?.length} entries, and another page`,
        })
      }
    })

    check('after an exact multiple of 1000 comes an empty page', async (t) => {
      const paging = await requireWayOfPaging(t)
      const known = await exactPages(t)
      const answer = await t.rpc.call(method, [known.filter])
      if (!isServed(answer)) throw new Untestable(`the first page is not served: ${describe(answer)}`)
      await expectEnd(t, { ...known, page: logsOf(served(answer)) }, paging)
    })
  }),
]
