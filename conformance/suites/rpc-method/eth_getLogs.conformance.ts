import { getAddress } from 'ethers'
import { type Answer, describeAnswer, isServed, memberOf, yieldsResult } from '../../lib/answer.ts'
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
  beyondFirstPage,
  blankLogs,
  filterCases,
  fromEarliest,
  type KnownFilter,
  knownLogs,
  ofAllBlocks,
  plainKinds,
  shortRange,
  toTheHead,
} from '../../lib/eth-rpc/filters.ts'
import { compareFirstPage, firstPage } from '../../lib/eth-rpc/first-page.ts'
import { expectSelected, requireLogs } from '../../lib/eth-rpc/gather.ts'
import { receiptsOf } from '../../lib/eth-rpc/known-transactions.ts'
import { quantity } from '../../lib/eth-rpc/values.ts'
import { sampleAddress, unknownAddress, unknownHash } from '../../lib/eth-rpc/methods.ts'
import { expectServed } from '../../lib/eth-rpc/serve.ts'
import { expect, resultOf } from '../../lib/expect.ts'
import { Fault, Untestable } from '../../lib/outcome.ts'
import { type Filter, pageLimit } from '../../lib/eth-rpc/paging.ts'
import { ourTimeMs } from '../../lib/world.ts'

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

/** Like `expectSelectedIfServed`, for the first pages of filters that select many. */
async function expectFirstPages(t: CheckContext, known: KnownFilter, form: string): Promise<void> {
  await requireLogs(t)
  await inTime(t, async () => {
    const answer = await t.rpc.call(method, [known.filter])
    // Null says as little as a refusal does.
    if (yieldsResult(answer)) await expectSelected(t, known, answer, 2)
    else t.observe(`${form} is refused: ${describeAnswer(answer)}`)
  })
}

/**
 * The target returns all logs up to the latest block, or up to a block that was the latest not long ago.
 *
 * @throws Fault when logs are missing
 */
async function expectUpToAHead(t: CheckContext, since: bigint, known: KnownFilter, form: string): Promise<void> {
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

/** How many blocks beyond the head a range ends. Some nodes never answer for a block far beyond it. */
const beyond = 8n

/** A filter for what the profile emits after the beginning of the run. It selects nothing at first. */
function filterOfProfile(t: CheckContext): Promise<Filter> {
  return t.once('eth-rpc.filter-of-the-profile', async (shared) => {
    const { address } = shared.fixture.profile
    const head = await readHead(shared.chain)
    const isSilent = (await knownLogs(shared, { address, fromBlock: quantity(head) }, head)).length === 0
    return { address, fromBlock: quantity(isSilent ? head : head + 1n), toBlock: 'latest' }
  })
}

/**
 * The logs that the profile emits from the beginning of the run on. Asked for in the same words at the end of the run, when
 * an answer that the target keeps lacks those of the calls that the run has sent.
 *
 * @throws Fault when logs are missing
 */
async function expectLogsOfProfile(t: CheckContext): Promise<void> {
  const filter = await filterOfProfile(t)
  const since = await readHead(t.chain)
  await inTime(t, async () => {
    const upTo = await readHead(t.chain)
    const truth = await knownLogs(t, filter, upTo)
    await expectUpToAHead(t, since, { filter, truth, upTo }, 'a filter with toBlock "latest"')
  })
}

/** A service that is behind knows the latest block after this time, in ms. */
const lagMs = 5500

/** The logs of an address in each of the last blocks, any of which may be the latest one of the target. */
async function logsOfLatest(t: CheckContext, head: bigint): Promise<KnownFilter[]> {
  const from = head < lagBlocks ? 0n : head - lagBlocks
  const all = await knownLogs(t, { fromBlock: quantity(from) }, head)
  const blocks = new Map(all.map((log) => [positionOf(log).block, new Map<unknown, Log[]>()] as const))
  for (const log of all) {
    const own = blocks.get(positionOf(log).block)
    own?.set(log['address'], [...(own.get(log['address']) ?? []), log])
  }
  const isOfAll = (address: unknown) => [...blocks.values()].every((block) => block.has(address))
  const address = all.map((log) => log['address']).find(isOfAll)
  if (address === undefined || BigInt(blocks.size) <= head - from) return []
  return [...blocks.values()].map((block) => ({
    filter: { address, fromBlock: 'latest' },
    truth: block.get(address) ?? [],
  }))
}

/** The answer holds the logs of one of the blocks. @throws Fault of the last block */
function expectOneOf(blocks: readonly KnownFilter[], answer: Answer): void {
  let fault: Fault | undefined
  for (const known of blocks) {
    try {
      return void compareFirstPage(known, answer)
    } catch (error) {
      if (!(error instanceof Fault)) throw error
      fault = error
    }
  }
  if (fault) throw fault
}

/**
 * A filter from the latest block on selects its logs. Judged only where the chain stands still for as long as a service may
 * be behind.
 *
 * @throws Fault when logs are missing
 */
async function expectLogsOfLatest(t: CheckContext): Promise<void> {
  const head = await readHead(t.chain)
  const blocks = await logsOfLatest(t, head)
  const [first] = blocks
  if (!first) return t.observe('not seen: logs of one address in each of the last blocks')
  const beganMs = ourTimeMs()
  try {
    await inTime(t, async () => {
      const answer = await t.rpc.call(method, [first.filter])
      if (!yieldsResult(answer)) return t.observe(`fromBlock "latest" is refused: ${describeAnswer(answer)}`)
      if ((await readHead(t.chain)) !== head) return t.observe('not seen: the chain went on meanwhile')
      expectOneOf(blocks, answer)
    })
  } catch (error) {
    if (!(error instanceof Fault) || ourTimeMs() - beganMs >= lagMs) throw error
    t.observe(`not judged, since a service may be behind: ${error.message}`)
  }
}

/** How often several filters are asked for at once. */
const rounds = 2

/**
 * Asks for the logs of an address and of one without logs at the same time. A target may serve one request at a time, and
 * refuse the others.
 *
 * @throws Fault when a filter is answered with the logs of the other one
 */
async function expectOwnAtOnce(t: CheckContext): Promise<void> {
  await requireLogs(t)
  const { filter } = await shortRange(t)
  const filters = [filter, { ...filter, address: unknownAddress() }]
  for (let round = 0; round < rounds; round++) {
    // The other one comes first in each second round.
    const asked = round % 2 === 0 ? filters : filters.toReversed()
    const answers = await Promise.all(asked.map((one) => t.rpc.call(method, [one])))
    for (const [index, answer] of answers.entries()) {
      // An empty list shows nothing: a node behind the same address may not have the blocks yet.
      if (asked[index] === filter || !yieldsResult(answer)) continue
      if (logsOf(memberOf(answer, 'result'), { answer }).length === 0) continue
      throw new Fault('a filter is answered with the logs of another one that was asked for at the same time', {
        expected: 'an empty list',
        actual: describeAnswer(answer),
        answer,
      })
    }
  }
}

/** @throws Fault when the logs of a block, or of an address in it, are not those of the chain */
async function expectLogsOfBlock(t: CheckContext): Promise<void> {
  const { whole, ofAddress } = await ofOneBlock(t)
  await inTime(t, async () => {
    const answer = await t.rpc.call(method, [whole.filter])
    if (isServed(answer)) return expectSelected(t, whole, answer)
    // The document does not show the fields of a filter, so a service may ask for an address.
    const { answer: narrower } = await expectServed(t, method, [ofAddress.filter])
    await expectSelected(t, ofAddress, narrower)
    t.observe(`a filter without address and topics is refused: ${describeAnswer(answer)}`)
  })
}

/** @throws Fault when the logs of an address, some of which have long data and large indexes, are not those of the chain */
async function expectLongData(t: CheckContext): Promise<void> {
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
}

/** The target serves plain filters, so a wrong answer is for the field of the filter. */
async function asField(work: () => Promise<void>, answer?: Answer): Promise<void> {
  try {
    await work()
  } catch (error) {
    if (!(error instanceof Fault) || error.of !== 'eth-rpc.eth_getLogs.success') throw error
    const { expected = '', actual = '' } = error
    const shown = answer ?? error.answer
    throw new Fault(error.message, { expected, actual, ...(shown ? { answer: shown } : {}) })
  }
}

/** The other of the two spellings of an address. */
function respelt(address: string): string {
  return address === address.toLowerCase() ? getAddress(address) : address.toLowerCase()
}

const onChain = { needs: ['chain', 'fixture'] } as const

export default [
  clause('eth-rpc.eth_getLogs.success', (check) => {
    check('the logs of a block', expectLogsOfBlock)

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
        await inTime(t, async () => expectUpToAHead(t, since, await toTheHead(t, end), `a filter ${form}`))
      })
    }

    check('an address in small letters, and with its checksum', onChain, async (t) => {
      const known = await shortRange(t)
      const filter = { ...known.filter, address: respelt(String(known.filter['address'])) }
      await expectSelectedIfServed(t, { ...known, filter }, 'the other spelling of an address')
    })

    check('from the earliest block to the latest: the first pages', onChain, async (t) => {
      await expectFirstPages(t, await ofAllBlocks(t), 'a range from "earliest" to "latest"')
    })

    check('entries without topics, which differ in their place alone', onChain, async (t) => {
      const blank = await blankLogs(t)
      if (blank) await expectFirstPages(t, blank, 'a filter for logs without topics')
      else t.observe('not seen: logs without topics')
    })

    check('of several filters at once: the logs of each', onChain, expectOwnAtOnce)

    check('the logs of the profile up to the latest block', onChain, expectLogsOfProfile)

    check(
      'the same logs at the end of the run, with those of its calls',
      { ...onChain, isLast: true },
      expectLogsOfProfile,
    )

    check('entries with long data and large indexes', onChain, expectLongData)
  }),

  clause('eth-rpc.eth_getLogs.filter-fields', (check) => {
    for (const { selects, make } of filterCases) {
      check(selects, onChain, async (t) => {
        await requireLogs(t)
        const known = make(await emitterLogs(t))
        const answer = await t.rpc.call(method, [known.filter])
        expect(answer).to.be.served
        await asField(() => expectSelected(t, known, answer), answer)
      })
    }

    check('topics: a value of a log that stands beyond the first page of its block', onChain, async (t) => {
      await requireLogs(t)
      const known = await beyondFirstPage(t)
      await asField(() => expectSelectedIfServed(t, known, 'a filter by topics in a block of many logs'))
    })

    check('fromBlock and toBlock: a range that ends beyond the head', onChain, async (t) => {
      await requireLogs(t)
      const since = await readHead(t.chain)
      const end = { toBlock: quantity(since + beyond) }
      const form = 'a range that ends beyond the head'
      const answer = await t.rpc.call(method, [(await toTheHead(t, end)).filter])
      if (!yieldsResult(answer)) return t.observe(`${form} is refused: ${describeAnswer(answer)}`)
      await asField(() => inTime(t, async () => expectUpToAHead(t, since, await toTheHead(t, end), form)))
    })

    check(
      'fromBlock and toBlock: a range that ends before it begins selects nothing, where it is served',
      onChain,
      async (t) => {
        await requireLogs(t)
        const { filter } = await shortRange(t)
        const { fromBlock, toBlock } = filter
        if (fromBlock === toBlock) return t.observe('not seen: a range of several blocks')
        const answer = await t.rpc.call(method, [{ ...filter, fromBlock: toBlock, toBlock: fromBlock }])
        if (!isServed(answer))
          return t.observe(`a range that ends before it begins is refused: ${describeAnswer(answer)}`)
        const { length } = logsOf(memberOf(answer, 'result'), { answer })
        expect(length, 'entries of a range that ends before it begins').shownBy(answer).to.equal(0)
      },
    )

    check('fromBlock "latest": the logs of the latest block', { ...onChain, isLast: true }, async (t) => {
      await requireLogs(t)
      await asField(() => expectLogsOfLatest(t))
    })
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
