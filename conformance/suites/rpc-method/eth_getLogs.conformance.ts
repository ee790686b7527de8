import { clause } from '../../lib/clause.ts'
import { served } from '../../lib/expect-rpc.ts'
import { badParams } from '../../lib/eth-rpc/bad-params.ts'
import { emitterLogs } from '../../lib/eth-rpc/emitter-logs.ts'
import { filterCases } from '../../lib/eth-rpc/filter-cases.ts'
import { knownTransactions } from '../../lib/eth-rpc/known-transactions.ts'
import { describePosition, expectSameLogs, isBefore, logsOf, positionOf } from '../../lib/eth-rpc/logs.ts'
import { quantity } from '../../lib/eth-rpc/quantity.ts'
import { expectResultSchema } from '../../lib/eth-rpc/result-schema.ts'
import { sampleAddress, unknownAddress, unknownHash } from '../../lib/eth-rpc/samples.ts'
import { firstPage, longKinds } from '../../lib/eth-rpc/first-page.ts'
import { pageLimit, shortRange } from '../../lib/eth-rpc/long-filters.ts'
import { Fault, Untestable } from '../../lib/outcome.ts'

const method = 'eth_getLogs'

export default [
  clause('eth-rpc.eth_getLogs.success', (check) => {
    check('the logs of a block', async (t) => {
      const [{ block }] = await knownTransactions(t)
      const filter = { fromBlock: quantity(block), toBlock: quantity(block) }
      const truth = logsOf(await t.chain.send(method, [filter]))
      if (truth.length > pageLimit) throw new Untestable(`block ${block} has more than one page of logs`)
      expectSameLogs(truth, logsOf(served(await t.rpc.call(method, [filter]))))
    })

    check('the logs of an address over a range', { needs: ['chain', 'fixture'] }, async (t) => {
      const { filter, truth } = await shortRange(t)
      expectSameLogs(truth, logsOf(served(await t.rpc.call(method, [filter]))))
    })

    check('an empty list where the filter selects nothing', async (t) => {
      const filter = { address: unknownAddress(), fromBlock: 'latest', toBlock: 'latest' }
      expectSameLogs([], logsOf(served(await t.rpc.call(method, [filter]))))
    })
  }),

  clause('eth-rpc.eth_getLogs.filter-fields', (check) => {
    for (const { selects, make } of filterCases) {
      check(selects, { needs: ['chain', 'fixture'] }, async (t) => {
        const { filter, truth } = make(await emitterLogs(t))
        expectSameLogs(truth, logsOf(served(await t.rpc.call(method, [filter]))))
      })
    }
  }),

  clause('eth-rpc.eth_getLogs.order', (check) => {
    for (const kind of longKinds) {
      check(`ascending ${kind}`, { needs: ['chain', 'fixture'] }, async (t) => {
        const positions = (await firstPage(t, kind)).page.map(positionOf)
        if (positions.length < 2) throw new Untestable(`the answer has ${positions.length} entries`)
        for (const [index, position] of positions.entries()) {
          const before = positions[index - 1]
          if (before && !isBefore(before, position)) {
            throw new Fault(`entry ${index} stands after a later one`, {
              expected: `an entry after ${describePosition(before)}`,
              actual: describePosition(position),
            })
          }
        }
      })
    }
  }),

  clause('eth-rpc.eth_getLogs.result-schema', (check) => {
    check('is an array of log objects', async (t) => {
      const latest = { fromBlock: 'latest', toBlock: 'latest' }
      const { filter } = t.hasChain ? await shortRange(t) : { filter: latest }
      expectResultSchema(t, method, served(await t.rpc.call(method, [filter])))
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
