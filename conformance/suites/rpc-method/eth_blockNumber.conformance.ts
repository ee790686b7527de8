import { clause } from '../../lib/clause.ts'
import type { CheckContext } from '../../lib/context.ts'
import { served } from '../../lib/expect-rpc.ts'
import { badParams, unexpectedParams } from '../../lib/eth-rpc/bad-params.ts'
import { eventually } from '../../lib/eth-rpc/eventually.ts'
import { expectNumber } from '../../lib/eth-rpc/expect-number.ts'
import { bracketed, lagBlocks } from '../../lib/eth-rpc/head.ts'
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

export default [
  clause('eth-rpc.eth_blockNumber.success', (check) => {
    check('is a block number', async (t) => void (await expectNumber(t, 'eth_blockNumber', [], 'a block number')))

    check('is the head of the chain, or of the blocks mined meanwhile', { needs: ['chain'] }, async (t) => {
      await expectHead(t)
    })
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
