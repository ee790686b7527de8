import { type CheckContext, clause } from '../../lib/clause.ts'
import { resultOf } from '../../lib/expect.ts'
import { badParams, expectResultSchema, unexpectedParams } from '../../lib/eth-rpc/method-clauses.ts'
import { blocksOfALag, bracketed, eventually, inTime, lagBlocks } from '../../lib/eth-rpc/head.ts'
import { expectNumber } from '../../lib/eth-rpc/serve.ts'
import { Fault } from '../../lib/outcome.ts'

/** @throws Fault when the answer is not the head of the chain */
async function expectHead(t: CheckContext): Promise<void> {
  const ask = () => bracketed(t.chain, () => expectNumber(t, 'eth_blockNumber', [], 'a block number'))
  const isHead = ({ value, before, after }: Awaited<ReturnType<typeof ask>>, slack: bigint) =>
    value.readings.some((number) => number >= before - slack && number <= after + slack)
  const first = await ask()
  if (isHead(first, 0n)) return
  if (isHead(first, lagBlocks)) {
    t.observe('the head is a block or two away from that of the chain’s node')
    return
  }
  // A service may be some seconds behind, which is many blocks on a fast chain. So the head at the beginning is right
  // as well.
  const askAgain = async () => ({ ...(await ask()), before: first.before })
  const seen = await eventually(t, askAgain, (again) => isHead(again, lagBlocks))
  if (isHead(seen, lagBlocks)) return
  const { value, before, after } = seen
  throw new Fault('the result is not the head of the chain', {
    expected: `${before === after ? before : `${before} to ${after}`}, or at most ${lagBlocks} blocks away`,
    actual: `${value.readings[0]}`,
    answer: value.answer,
    of: 'eth-rpc.eth_blockNumber.success',
  })
}

/** This many answers in a row meet each of a few nodes behind one address. */
const answersInARow = 8
/**
 * Makes sure that the number does not fall. It falls when one of several nodes behind an address stands still.
 *
 * @throws Fault when the number falls
 */
async function expectNoFall(t: CheckContext): Promise<void> {
  const slack = await blocksOfALag(t)
  const told: Awaited<ReturnType<typeof expectNumber>>[] = []
  for (let turn = 0; turn < answersInARow; turn++) {
    told.push(await expectNumber(t, 'eth_blockNumber', [], 'a block number'))
  }
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
      // Blocks with relayed transactions have been mined by now, so a head that stands still shows.
      if (t.hasChain) await expectHead(t)
      expectResultSchema(t, 'eth_blockNumber', resultOf(await t.rpc.call('eth_blockNumber')))
    })
  }),

  badParams('eth_blockNumber', async () => [], unexpectedParams),
]
