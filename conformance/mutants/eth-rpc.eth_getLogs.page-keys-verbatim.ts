import { defineMutant } from './define.ts'
import { pagingOf, refuse } from './lib/rpc.ts'

export default defineMutant({
  clause: 'eth-rpc.eth_getLogs.page-keys-verbatim',
  fault: 'the keys are refused with 0x, as they stand in the entry',
  rpc: refuse(-32602, (body) => String(pagingOf(body)?.['logIndex']).startsWith('0x')),
})
