import { defineMutant } from '../../altered/define.ts'
import { alterResult, ignoreParams, paddedQuantity } from '../../altered/lib/rpc.ts'
import { count } from '../../altered/lib/answers.ts'

export default [
  defineMutant({
    clause: 'eth-rpc.eth_blockNumber.success',
    fault: 'a head ten blocks beyond the chain',
    rpc: alterResult('eth_blockNumber', (head) => `0x${(BigInt(String(head)) + 10n).toString(16)}`),
  }),

  defineMutant({
    clause: 'eth-rpc.eth_blockNumber.success',
    name: 'behind',
    fault: 'a head ten blocks behind the chain',
    rpc: alterResult('eth_blockNumber', (head) => `0x${(BigInt(String(head)) - 10n).toString(16)}`),
  }),

  defineMutant({
    clause: 'eth-rpc.eth_blockNumber.result-schema',
    fault: 'a quantity with a leading zero',
    rpc: alterResult('eth_blockNumber', paddedQuantity),
  }),

  defineMutant({
    clause: 'eth-rpc.eth_blockNumber.bad-params',
    fault: 'whatever stands in params is ignored',
    rpc: ignoreParams('eth_blockNumber'),
  }),

  defineMutant({
    clause: 'eth-rpc.eth_blockNumber.success',
    name: 'stuck',
    fault: 'the first head that was asked for is answered ever after',
    whole: true,
    async rpc(request, forward, tools) {
      return alterResult('eth_blockNumber', (head) => {
        if (!tools.memory.has('head')) tools.memory.set('head', head)
        return tools.memory.get('head')
      })(request, forward, tools)
    },
  }),

  defineMutant({
    clause: 'eth-rpc.eth_blockNumber.success',
    name: 'falls-now-and-then',
    fault: 'each third answer is of a node that has only begun to follow the chain',
    rpc: (request, forward, tools) =>
      alterResult('eth_blockNumber', (head) => (count(tools, 'asked') % 3 === 2 ? '0x1' : head))(
        request,
        forward,
        tools,
      ),
  }),
]
