import { defineMutant } from '../../altered/define.ts'
import { alterResult, ignoreParams, paddedQuantity } from '../../altered/lib/rpc.ts'

export default [
  defineMutant({
    clause: 'eth-rpc.eth_chainId.success',
    fault: 'the id of another chain',
    rpc: alterResult('eth_chainId', () => '0x1'),
  }),

  defineMutant({
    clause: 'eth-rpc.eth_chainId.result-schema',
    fault: 'a quantity with a leading zero',
    rpc: alterResult('eth_chainId', paddedQuantity),
  }),

  defineMutant({
    clause: 'eth-rpc.eth_chainId.bad-params',
    fault: 'whatever stands in params is ignored',
    rpc: ignoreParams('eth_chainId'),
  }),

  defineMutant({
    clause: 'eth-rpc.eth_chainId.success',
    name: 'later',
    fault: 'right for the first five answers, another chain’s later',
    whole: true,
    async rpc(request, forward, tools) {
      return alterResult('eth_chainId', (id) => {
        const asked = Number(tools.memory.get('asked') ?? 0)
        tools.memory.set('asked', asked + 1)
        return asked < 5 ? id : '0x2a'
      })(request, forward, tools)
    },
  }),
]
