import { defineLawful } from '../../altered/define.ts'
import { alterResult } from '../../altered/lib/rpc.ts'

function fee(id: string, wei: string) {
  return defineLawful({
    id,
    clauses: ['eth-rpc.eth_maxPriorityFeePerGas.success'],
    allowedBy: 'eth-rpc 4: "Priority fee query": how the fee is found is not shown',
    rpc: alterResult('eth_maxPriorityFeePerGas', () => wei),
  })
}

export default [
  fee('wants-no-priority-fee', '0x0'),
  fee('wants-a-wei-of-priority-fee', '0x1'),
  fee('wants-a-hundredth-gwei-of-priority-fee', '0x989680'),
  fee('wants-one-and-a-half-gwei-of-priority-fee', '0x59682f00'),
  fee('wants-three-gwei-of-priority-fee', '0xb2d05e00'),
  fee('wants-25-gwei-of-priority-fee', '0x5d21dba00'),
]
