import { describeAnswer, isServed } from '../../lib/answer.ts'
import { type CheckContext, clause } from '../../lib/clause.ts'
import { badParams, expectResultSchema } from '../../lib/eth-rpc/method-clauses.ts'
import {
  comparePositions,
  describePosition,
  emitterLogs,
  type Log,
  logsOf,
  pairedLogs,
  positionOf,
} from '../../lib/eth-rpc/logs.ts'
import { inTime, lagBlocks, readHead, youngBlock } from '../../lib/eth-rpc/head.ts'
import {
  filterCases,
  fromEarliest,
  type KnownFilter,
  plainKinds,
  shortRange,
  toTheHead,
} from '../../lib/eth-rpc/filters.ts'
import { firstPage } from '../../lib/eth-rpc/first-page.ts'
import { expectSelected, requireLogs } from '../../lib/eth-rpc/gather.ts'
import { receiptsOf } from '../../lib/eth-rpc/known-transactions.ts'
import { quantity } from '../../lib/eth-rpc/values.ts'
import { sampleAddress, unknownAddress, unknownHash } from '../../lib/eth-rpc/methods.ts'
import { expectServed } from '../../lib/eth-rpc/serve.ts'
import { expect, resultOf } from '../../lib/expect.ts'
import { Fault, Untestable } from '../../lib/outcome.ts'
import { pageLimit } from '../../lib/eth-rpc/paging.ts'

const method = 'eth_getLogs'
/** A service that is behind may lack this many blocks with logs at the end. */
const mostEnds = 8

/** The youngest known block that has logs: a filter for this block, and one for an address in it. */
async function ofOneBlock(t: CheckContext): Promise<{ readonly whole: KnownFilter; readonly ofAddress: KnownFilter }> {
  const found = (await receiptsOf(t)).find(({ receipt }) => logsOf(receipt['logs']).length > 0)
  if (!found) throw new Untestable('no known transaction has logs')
  const range = { fromBlock: quantity(found.known.block), toBlock: quantity(found.known.block) }
  const truth = logsOf(await t.chain.send(method, [range]))
  const address = truth[0]?.['address']
  const own = truth.filter((log) => log['address'] === address)
  if (truth.length > pageLimit) throw new Untestable(`block ${found.known.block} has more than one page of logs`)
  return { whole: { filter: range, truth }, ofAddress: { filter: { address, ...range }, truth: own } }
}

/**
 * Sends a filter that the document does not show. A target may refuse it; a target that serves it must return what
 * it selects.
 */
async function expectSelectedIfServed(t: CheckContext, known: KnownFilter, form: string): Promise<void> {
  await requireLogs(t)
  const answer = await t.rpc.call(method, [known.filter])
  if (isServed(answer)) await expectSelected(t, known, answer)
  else t.observe(`${form} is refused: ${describeAnswer(answer)}`)
}

/**
 * The target returns all logs up to the latest block, or up to a block that was the latest not long ago.
 *
 * @throws Fault when logs are missing
 */
async function expectUpToAHead(
  t: CheckContext,
  since: bigint,
  end: Parameters<typeof toTheHead>[1],
  form: string,
): Promise<void> {
  const known = await toTheHead(t, end)
  const { truth } = known
  const blockOf = (log: Log): bigint => positionOf(log).block
  const youngest = [...new Set(truth.map(blockOf))].filter((block) => block > since - lagBlocks).reverse()
  const ends = [undefined, ...youngest.slice(0, mostEnds)]
  let fault: Fault | undefined
  for (const end of ends) {
    try {
      const upToEnd =
        end === undefined ? known : { ...known, truth: truth.filter((log) => blockOf(log) < end), upTo: end - 1n }
      return await expectSelectedIfServed(t, upToEnd, form)
    } catch (error) {
      if (!(error instanceof Fault)) throw error
      fault ??= error
    }
  }
  if (fault) throw fault
}

const onChain = { needs: ['chain', 'fixture'] } as const

export default [
  clause('eth-rpc.eth_getLogs.success', (check) => {
    check('the logs of a block', async (t) => {
      const { whole, ofAddress } = await ofOneBlock(t)
      await inTime(t, async () => {
        const answer = await t.rpc.call(method, [whole.filter])
        if (isServed(answer)) return expectSelected(t, whole, answer)
        // The document does not show the fields of a filter, so a service may ask for an address.
        const { answer: narrower } = await expectServed(t, method, [ofAddress.filter])
        await expectSelected(t, ofAddress, narrower)
        t.observe(`a filter without address and topics is refused: ${describeAnswer(answer)}`)
      })
    })

    check('the logs of an address over a range', onChain, (t) => requireLogs(t))

    check('an empty list where the filter selects nothing', async (t) => {
      const full = await ofOneBlock(t).catch((error: unknown) => {
        if (error instanceof Untestable) return undefined
        throw error
      })
      // The blocks have logs, so that the address alone selects nothing.
      const young = quantity(await youngBlock(t))
      const { fromBlock = young, toBlock = young } = full?.whole.filter ?? {}
      const filter = { address: unknownAddress(), fromBlock, toBlock }
      const { answer, result } = await expectServed(t, method, [filter])
      expect(logsOf(result, { answer }).length, 'entries, where the filter selects nothing').shownBy(answer).to.equal(0)
    })

    check('from the earliest block: all that came before as well', onChain, async (t) =>
      expectSelectedIfServed(t, await fromEarliest(t), 'fromBlock "earliest"'),
    )

    for (const [form, end] of [
      ['without toBlock', {}],
      ['with toBlock "latest"', { toBlock: 'latest' }],
    ] as const) {
      check(`${form}: all up to the latest block`, onChain, async (t) => {
        const since = await readHead(t.chain)
        // The chain goes on, so logs that were emitted between two looks are there at the next attempt.
        await inTime(t, () => expectUpToAHead(t, since, end, `a filter ${form}`))
      })
    }

    check('entries with long data and large indexes', onChain, async (t) => {
      const paired = await pairedLogs(t)
      if (!paired) return t.observe('not seen, because the fixture has none: logs with more than 1 kB of data')
      const { emitters, fromBlock, toBlock, all } = paired
      for (const address of emitters) {
        const own = all.filter((log) => String(log['address']).toLowerCase() === address.toLowerCase())
        const since = (first: bigint): KnownFilter => ({
          filter: { address, fromBlock: quantity(first), toBlock: quantity(toBlock) },
          truth: own.filter((log) => positionOf(log).block >= first),
        })
        const whole = since(fromBlock)
        const served = await t.rpc.call(method, [whole.filter])
        // The document does not show how wide a range may be.
        const known = isServed(served) ? whole : since(toBlock)
        const answer = isServed(served) ? served : (await expectServed(t, method, [known.filter])).answer
        await expectSelected(t, known, answer)
      }
    })
  }),

  clause('eth-rpc.eth_getLogs.filter-fields', (check) => {
    for (const { selects, make } of filterCases) {
      check(selects, onChain, async (t) => {
        await requireLogs(t)
        const known = make(await emitterLogs(t))
        const answer = await t.rpc.call(method, [known.filter])
        expect(answer).to.be.served
        try {
          await expectSelected(t, known, answer)
        } catch (error) {
          // The target serves plain filters, so it refuses this one for its field.
          if (!(error instanceof Fault) || error.of !== 'eth-rpc.eth_getLogs.success') throw error
          const { expected = '', actual = '' } = error
          throw new Fault(error.message, { expected, actual, answer })
        }
      })
    }
  }),

  clause('eth-rpc.eth_getLogs.order', (check) => {
    for (const kind of plainKinds) {
      check(`ascending ${kind}`, onChain, async (t) => {
        const { page, answer } = await firstPage(t, kind)
        const positions = page.map(positionOf)
        if (positions.length < 2) throw new Untestable(`the answer has ${positions.length} entries`)
        for (const [index, position] of positions.entries()) {
          const before = positions[index - 1]
          if (!before || comparePositions(before, position) < 0) continue
          throw new Fault(`entry ${index} stands after a later one`, {
            expected: `an entry after ${describePosition(before)}`,
            actual: describePosition(position),
            answer,
          })
        }
      })
    }
  }),

  clause('eth-rpc.eth_getLogs.result-schema', (check) => {
    check('is an array of log objects', async (t) => {
      const latest = { fromBlock: 'latest', toBlock: 'latest' }
      const { filter } = t.hasChain ? await shortRange(t) : { filter: latest }
      expectResultSchema(t, method, resultOf(await t.rpc.call(method, [filter])))
    })

    check('is an array where nothing is selected', async (t) => {
      const { filter } = t.hasChain ? await shortRange(t) : { filter: { fromBlock: 'latest', toBlock: 'latest' } }
      const ofNobody = { ...filter, address: unknownAddress() }
      expectResultSchema(t, method, resultOf(await t.rpc.call(method, [ofNobody])))
    })
  }),

  badParams(method, async () => [{ address: sampleAddress, fromBlock: 'latest', toBlock: 'latest', topics: [] }], [
    { fault: 'no parameters', spoil: () => [] },
    { fault: 'a parameter too many', spoil: ([filter]) => [filter, 'latest', 'latest'] },
    { fault: 'a string instead of a filter', spoil: () => ['latest'] },
    { fault: 'null instead of a filter', spoil: () => [null] },
    { fault: 'an address of 19 bytes', spoil: spoilt({ address: sampleAddress.slice(0, -2) }) },
    { fault: 'an address that is not hex', spoil: spoilt({ address: [`${sampleAddress.slice(0, -1)}g`] }) },
    { fault: 'a first block that is neither number nor tag', spoil: spoilt({ fromBlock: 'newest' }) },
    { fault: 'a last block that is neither number nor tag', spoil: spoilt({ toBlock: true }) },
    { fault: 'topics that are no list', spoil: spoilt({ topics: unknownHash() }) },
    { fault: 'a topic of 31 bytes', spoil: spoilt({ topics: [unknownHash().slice(0, -2)] }) },
  ]),
]

function spoilt(fault: Readonly<Record<string, unknown>>) {
  return ([filter]: readonly unknown[]) => [{ ...(filter as Record<string, unknown>), ...fault }]
}
