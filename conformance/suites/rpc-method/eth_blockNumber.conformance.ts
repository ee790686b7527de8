import { clause } from '../../lib/clause.ts'
import type { CheckContext } from '../../lib/context.ts'
import { served } from '../../lib/expect-rpc.ts'
import { badParams, unexpectedParams } from '../../lib/eth-rpc/bad-params.ts'
import { eventually, inTime } from '../../lib/eth-rpc/eventually.ts'
import { expectNumber } from '../../lib/eth-rpc/expect-number.ts'
import { bracketed, lagBlocks, readHead } from '../../lib/eth-rpc/head.ts'
import { expectResultSchema } from '../../lib/eth-rpc/result-schema.ts'
import { Fault } from '../../lib/outcome.ts'

/** @throws Fault when the answer is not the head of the chain */
async function expectHead(t: CheckContext): Promise<void> {
  const ask = () => bracketed(t.chain, () => expectNumber(t, 'eth_blockNumber', [], 'a block number'))
  const isHead = ({ value, before, after }: Awaited<ReturnType<typeof ask>>, slack: bigint) =>
    value.readings.some((number) => number >= before - slack && number <= after + slack)
  let seen = await ask()
  if (isHead(seen, 0n)) return
  if (isHead(seen, lagBlocks)) {
    t.observe('the head is a block or two away from that of the chain’s node')
    return
  }
  seen = await eventually(t, ask, (again) => isHead(again, lagBlocks))
  if (isHead(seen, lagBlocks)) return
  const { value, before, after } = seen
  throw new Fault('the result is not the head of the chain', {
    expected: `${before === after ? before : `${before} to ${after}`}, or at most ${lagBlocks} blocks away`,
    actual: `${value.readings[0]}`,
    answer: value.answer,
    of: 'eth-rpc.eth_blockNumber.success',
  })
}

/** So many answers in a row are enough to meet each of a few nodes behind one address. */
const answersInARow = 8
/** What services may be behind, in time: blocks of so many milliseconds are no fall on a chain that is fast. */
const lagMs = 6000n

/** One node that stands still behind an address of several shows as a number that falls. @throws Fault */
async function expectNoFall(t: CheckContext): Promise<void> {
  const startMs = Date.now()
  const first = await readHead(t.chain)
  const told: Awaited<ReturnType<typeof expectNumber>>[] = []
  for (let turn = 0; turn < answersInARow; turn++)
    told.push(await expectNumber(t, 'eth_blockNumber', [], 'a block number'))
  const mined = (await readHead(t.chain)) - first
  const slack = lagBlocks + (mined * lagMs) / BigInt(Math.max(Date.now() - startMs, 1))
  let highest = 0n
  for (const { readings, answer } of told) {
    if (readings.every((number) => number + slack < highest)) {
      throw new Fault('the head falls from one answer to the next', {
        expected: `${highest}, as was answered before, or at most ${slack} blocks fewer`,
        actual: `${readings[0]}`,
        answer,
        of: 'eth-rpc.eth_blockNumber.success',
      })
    }
    const least = readings.reduce((a, b) => (b < a ? b : a))
    highest = least > highest ? least : highest
  }
}

export default [
  clause('eth-rpc.eth_blockNumber.success', (check) => {
    check('is a block number', async (t) => void (await expectNumber(t, 'eth_blockNumber', [], 'a block number')))

    check('is the head of the chain, or of the blocks mined meanwhile', { needs: ['chain'] }, async (t) => {
      await expectHead(t)
    })

    check('does not fall', { needs: ['chain'] }, (t) => inTime(t, () => expectNoFall(t)))
  }),

  clause('eth-rpc.eth_blockNumber.result-schema', (check) => {
    check('is a quantity', async (t) => {
      // By now relayed transactions have been mined: a head that stands still shows.
      if (t.hasChain) await expectHead(t)
      expectResultSchema(t, 'eth_blockNumber', served(await t.rpc.call('eth_blockNumber')))
    })
  }),

  badParams('eth_blockNumber', async () => [], unexpectedParams),
]
