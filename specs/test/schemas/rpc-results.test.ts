import { altered, exampleOf, judge, lacking, without } from './judge.ts'

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
    ...lacking(log, [
      'address',
      'topics',
      'data',
      'blockHash',
      'blockNumber',
      'transactionHash',
      'transactionIndex',
      'logIndex',
    ]),
    ...altered(log, {
      address: '0x12',
      blockHash: null,
      transactionHash: '0x12',
      transactionIndex: null,
      removed: 'no',
    }),
    'five topics': { ...log, topics: Array<unknown>(5).fill(log['blockHash']) },
    'a short topic': { ...log, topics: ['0xab'] },
    'half a byte of data': { ...log, data: '0xabc' },
    'a time as a number': { ...log, blockTimestamp: 1 },
  },
})

judge(`rpc-method/eth_getLogs${result}`, {
  accepts: { 'no logs': [], '1000 logs': Array<unknown>(1000).fill(log) },
  refuses: { '1001 logs': Array<unknown>(1001).fill(log), null: null, 'a hash': [log['blockHash']] },
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
    ...lacking(receipt, [
      'transactionHash',
      'transactionIndex',
      'blockHash',
      'blockNumber',
      'from',
      'cumulativeGasUsed',
      'gasUsed',
      'logs',
      'logsBloom',
      'effectiveGasPrice',
    ]),
    ...altered(receipt, { type: '0x7f', status: null, to: '0x12', contractAddress: '0x12', logs: null }),
    'status of 2': { ...receipt, status: '0x2' },
    'root of null': { ...beforeByzantium, root: null },
    'an unknown member': { ...receipt, blockTimestamp: 1 },
    'a short bloom': { ...receipt, logsBloom: '0x00' },
    'a block hash of null': { ...receipt, blockHash: null },
    'a malformed log': { ...receipt, logs: [without(log, 'data')] },
  },
})
