import { defineMutant } from '../../altered/define.ts'
import { alterParams, alterResult, refuse } from '../../altered/lib/rpc.ts'

/** Writes the hash of a look-up in another spelling. */
function hashAs(method: string, spell: (hash: string) => string) {
  return alterParams(method, ([hash, ...rest]) => [typeof hash === 'string' ? spell(hash) : hash, ...rest])
}

export default [
  defineMutant({
    clause: 'eth-rpc.types.address',
    fault: 'an address in checksummed case names an account that nobody has',
    rpc: alterParams('eth_getBalance', ([address, ...rest]) =>
      typeof address === 'string' && /[A-F]/.test(address) ? [`0x${'00'.repeat(19)}77`, ...rest] : [address, ...rest],
    ),
  }),

  defineMutant({
    clause: 'eth-rpc.types.address',
    name: 'lower-case',
    fault: 'an address in lower case is refused',
    rpc: refuse(-32602, ({ method, params }) => {
      const [address] = Array.isArray(params) ? (params as unknown[]) : []
      return method === 'eth_getBalance' && typeof address === 'string' && address === address.toLowerCase()
    }),
  }),

  defineMutant({
    clause: 'eth-rpc.types.hash',
    fault: 'a hash finds its transaction in capitals alone',
    rpc: hashAs('eth_getTransactionByHash', (hash) => (hash === hash.toLowerCase() ? `0x${'00'.repeat(32)}` : hash)),
  }),

  defineMutant({
    clause: 'eth-rpc.types.hash',
    name: 'receipt',
    fault: 'a hash with 0x before it is refused, and wanted without',
    rpc: hashAs('eth_getTransactionReceipt', (hash) => (hash.startsWith('0x') ? hash.slice(2) : `0x${hash}`)),
  }),

  defineMutant({
    clause: 'eth-rpc.types.block-tags',
    fault: '"pending" is refused as a bad parameter',
    rpc: refuse(
      -32602,
      ({ method, params }) => method === 'eth_getBalance' && Array.isArray(params) && params[1] === 'pending',
    ),
  }),

  defineMutant({
    clause: 'eth-rpc.types.block-tags',
    name: 'latest',
    fault: '"latest" is refused as a bad parameter',
    rpc: refuse(
      -32602,
      ({ method, params }) => method === 'eth_getBalance' && Array.isArray(params) && params[1] === 'latest',
    ),
  }),

  defineMutant({
    clause: 'eth-rpc.types.block-number',
    fault: 'a block by its number is refused',
    rpc: refuse(-32602, ({ method, params }) => {
      const [, block] = Array.isArray(params) ? (params as unknown[]) : []
      return method === 'eth_getBalance' && typeof block === 'string' && block.startsWith('0x')
    }),
  }),

  defineMutant({
    clause: 'eth-rpc.eth_getBalance.success',
    name: 'null-at-pending',
    fault: 'the balance at "pending" is null',
    rpc: alterResult('eth_getBalance', (balance, { params }) =>
      Array.isArray(params) && params[1] === 'pending' ? null : balance,
    ),
  }),

  defineMutant({
    clause: 'eth-rpc.eth_getBalance.success',
    name: 'decimal-blocks',
    fault: 'the digits of a block number are read as decimal',
    rpc: alterParams('eth_getBalance', ([address, block, ...rest]) => [
      address,
      typeof block === 'string' && /^0x[0-9]+$/.test(block) ? `0x${Number(block.slice(2)).toString(16)}` : block,
      ...rest,
    ]),
  }),
]
