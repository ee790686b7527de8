import { clause } from '../../lib/clause.ts'
import { served } from '../../lib/expect-rpc.ts'
import { expectChainId } from '../../lib/eth-rpc/expect-chain-id.ts'
import { expectDiscerning } from '../../lib/eth-rpc/discerning.ts'
import { numberOf } from '../../lib/eth-rpc/quantity.ts'
import { sampleAddress } from '../../lib/eth-rpc/samples.ts'
import { Fault } from '../../lib/outcome.ts'

/** Within what every JSON parser holds exactly. */
const ids = [0, 1, 4_294_967_296, Number.MAX_SAFE_INTEGER, -1]

const withoutParameters = ['eth_chainId', 'eth_blockNumber', 'eth_gasPrice', 'eth_maxPriorityFeePerGas'] as const

export default [
  clause('eth-rpc.envelope.id-integer', (check) => {
    for (const id of ids) {
      check(`the id ${id} is accepted`, async (t) => {
        await expectChainId(t, await t.rpc.send({ id, jsonrpc: '2.0', method: 'eth_chainId', params: [] }))
      })
    }
  }),

  clause('eth-rpc.envelope.version', (check) => {
    check('jsonrpc "2.0" is accepted', async (t) => {
      await expectChainId(t, await t.rpc.send({ id: 1, jsonrpc: '2.0', method: 'eth_chainId', params: [] }))
    })
  }),

  clause('eth-rpc.envelope.params-positional', (check) => {
    check('the first element is the address, the second the block', async (t) => {
      await expectDiscerning(t)
      const params = [sampleAddress, 'latest']
      const result = served(await t.rpc.send({ id: 1, jsonrpc: '2.0', method: 'eth_getBalance', params }))
      if (numberOf(result) === undefined) {
        throw new Fault('the result is no balance', { expected: 'a number', actual: JSON.stringify(result) })
      }
    })
  }),

  clause('eth-rpc.envelope.params-empty', (check) => {
    for (const method of withoutParameters) {
      check(`${method} with an empty array`, async (t) => {
        await expectDiscerning(t)
        const result = served(await t.rpc.send({ id: 1, jsonrpc: '2.0', method, params: [] }))
        if (numberOf(result) === undefined) {
          throw new Fault('the result is no number', { expected: 'a number', actual: JSON.stringify(result) })
        }
      })
    }
  }),
]
