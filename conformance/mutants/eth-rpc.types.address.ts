import { defineMutant } from './define.ts'
import { alterParams } from './lib/rpc.ts'

export default defineMutant({
  clause: 'eth-rpc.types.address',
  fault: 'an address in checksummed case names an account that nobody has',
  rpc: alterParams('eth_getBalance', ([address, ...rest]) =>
    typeof address === 'string' && /[A-F]/.test(address) ? [`0x${'00'.repeat(19)}77`, ...rest] : [address, ...rest],
  ),
})
