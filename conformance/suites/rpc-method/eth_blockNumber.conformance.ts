import { describe } from '../../lib/answer.ts'
import { clause } from '../../lib/clause.ts'
import { served } from '../../lib/expect-rpc.ts'
import { badParams, unexpectedParams } from '../../lib/eth-rpc/bad-params.ts'
import { expectDiscerning } from '../../lib/eth-rpc/discerning.ts'
import { eventually } from '../../lib/eth-rpc/eventually.ts'
import { bracketed } from '../../lib/eth-rpc/head.ts'
import { numberOf } from '../../lib/eth-rpc/quantity.ts'
import { expectResultSchema } from '../../lib/eth-rpc/result-schema.ts'
import { Fault } from '../../lib/outcome.ts'

/** While blocks arrive, the target's node and ours may be so many apart at any moment. */
const apart = 2n

export default [
  clause('eth-rpc.eth_blockNumber.success', (check) => {
    check('is a block number', async (t) => {
      await expectDiscerning(t)
      const answer = await t.rpc.call('eth_blockNumber')
      if (numberOf(served(answer)) === undefined) {
        throw new Fault('the result is no number', { expected: 'a block number', actual: describe(answer) })
      }
    })

    check('is the head of the chain, or of the blocks mined meanwhile', { needs: ['chain'] }, async (t) => {
      const seen: bigint[] = []
      const ask = () => bracketed(t.chain, async () => numberOf(served(await t.rpc.call('eth_blockNumber'))) ?? -1n)
      const { value, before, after } = await eventually(t, ask, ({ value, before, after }) => {
        seen.push(before, after)
        return value >= before && value <= after
      })
      const slack = seen.some((head) => head !== seen[0]) ? apart : 0n
      if (value < before - slack || value > after + slack) {
        throw new Fault('the result is not the head of the chain', {
          expected: before === after ? `${before}` : `${before} to ${after}`,
          actual: `${value}`,
        })
      }
    })
  }),

  clause('eth-rpc.eth_blockNumber.result-schema', (check) => {
    check('is a quantity', async (t) => {
      expectResultSchema(t, 'eth_blockNumber', served(await t.rpc.call('eth_blockNumber')))
    })
  }),

  badParams('eth_blockNumber', async () => [], unexpectedParams),
]
