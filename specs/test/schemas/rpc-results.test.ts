import { exampleOf, judge, without } from './judge.ts'

const result = '#/properties/result'

for (const method of ['eth_blockNumber', 'eth_chainId', 'eth_gasPrice', 'eth_maxPriorityFeePerGas', 'eth_getBalance']) {
  judge(`rpc-method/${method}${result}`, {
    accepts: { zero: '0x0', 'a quantity': '0x1b4' },
    refuses: {
      'a number': 1,
      'a decimal string': '436',
      'leading zeros': '0x01',
      'no digits': '0x',
      'upper case': '0x1B4',
      null: null,
      'more than 256 bits': `0x1${'0'.repeat(64)}`,
    },
  })
}

const log = exampleOf('ethereum/log')
judge('ethereum/log', {
  accepts: {
    'a log': log,
    'no mark of removal': without(log, 'removed'),
    'a time': { ...log, blockTimestamp: '0x6b01486d' },
  },
  refuses: {
    'an unknown member': { ...log, type: 'mined' },
    'a number as index': { ...log, logIndex: 0 },
    'five topics': { ...log, topics: Array<unknown>(5).fill(log['blockHash']) },
    'a short topic': { ...log, topics: ['0xab'] },
    'half a byte of data': { ...log, data: '0xabc' },
    'no block number': without(log, 'blockNumber'),
    'a time as a number': { ...log, blockTimestamp: 1 },
  },
})

judge(`rpc-method/eth_getLogs${result}`, {
  accepts: { 'no logs': [], '1000 logs': Array<unknown>(1000).fill(log) },
  refuses: { '1001 logs': Array<unknown>(1001).fill(log), null: null, 'a hash': [log['blockHash']] },
})

const [legacy, accessListed, feeMarket, blob, setCode, pending] = [0, 1, 2, 3, 4, 5].map((index) =>
  exampleOf('ethereum/transaction', index),
) as [Tx, Tx, Tx, Tx, Tx, Tx]
type Tx = Record<string, unknown>

judge(`rpc-method/eth_getTransactionByHash${result}`, {
  accepts: {
    null: null,
    legacy,
    'legacy since EIP-155': { ...legacy, chainId: '0x2a', v: '0x77' },
    'access list': accessListed,
    'fee market': feeMarket,
    blob,
    'set code': setCode,
    pending,
    'a contract creation': { ...feeMarket, to: null },
    'a time': { ...feeMarket, blockTimestamp: '0x6b01486d' },
    'no deprecated v': without(feeMarket, 'v'),
  },
  refuses: {
    'an unknown type': { ...feeMarket, type: '0x5' },
    'no type': without(legacy, 'type'),
    'an unknown member': { ...feeMarket, creates: null },
    'legacy with an access list': { ...legacy, accessList: [] },
    'legacy without v': without(legacy, 'v'),
    'fee market without yParity': without(feeMarket, 'yParity'),
    'fee market without maxFeePerGas': without(feeMarket, 'maxFeePerGas'),
    'fee market with an authorization': { ...feeMarket, authorizationList: [] },
    'blob that creates': { ...blob, to: null },
    'blob without hashes': without(blob, 'blobVersionedHashes'),
    'set code without authorizations': without(setCode, 'authorizationList'),
    'half pending': { ...feeMarket, blockHash: null },
    'pending with an index': { ...pending, transactionIndex: '0x0' },
    'mined without a number': { ...feeMarket, blockNumber: null },
    'yParity of 2': { ...feeMarket, yParity: '0x2' },
    'a storage key of another size': {
      ...accessListed,
      accessList: [{ address: legacy['from'], storageKeys: ['0x0'] }],
    },
    'a value with leading zeros': { ...legacy, value: '0x00' },
    'a number as nonce': { ...legacy, nonce: 0 },
  },
})

const receipt = exampleOf('ethereum/receipt')
const beforeByzantium = exampleOf('ethereum/receipt', 1)
judge(`rpc-method/eth_getTransactionReceipt${result}`, {
  accepts: {
    null: null,
    'a receipt': receipt,
    'one before Byzantium': beforeByzantium,
    'one of a blob transaction': { ...receipt, type: '0x3', blobGasUsed: '0x20000', blobGasPrice: '0x1' },
    'one of a failure': { ...receipt, status: '0x0', logs: [] },
    'one of a creation': { ...receipt, to: null, contractAddress: receipt['from'] },
  },
  refuses: {
    'neither status nor root': without(receipt, 'status'),
    'status and root': { ...receipt, root: receipt['blockHash'] },
    'status null': { ...receipt, status: null },
    'an unknown member': { ...receipt, blockTimestamp: 1 },
    'a short bloom': { ...receipt, logsBloom: '0x00' },
    'no effective price': without(receipt, 'effectiveGasPrice'),
    'a block hash of null': { ...receipt, blockHash: null },
    'a malformed log': { ...receipt, logs: [without(log, 'data')] },
  },
})
