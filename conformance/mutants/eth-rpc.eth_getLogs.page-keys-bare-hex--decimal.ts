import { defineMutant } from './define.ts'
import { alterPaging } from './lib/rpc.ts'

function decimal(key: string): string {
  return /^[0-9a-f]+$/i.test(key) ? `0x${(parseInt(key, 10) || 0).toString(16)}` : key
}

export default defineMutant({
  clause: 'eth-rpc.eth_getLogs.page-keys-bare-hex',
  fault: 'keys without 0x are read as decimal',
  rpc: alterPaging((keys) =>
    Object.fromEntries(Object.entries(keys).map(([key, value]) => [key, decimal(String(value))])),
  ),
})
