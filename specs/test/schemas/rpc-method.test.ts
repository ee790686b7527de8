import { judge, altered, exampleOf, lacking, without } from '../judge.ts'

judge('common#/$defs/quantity', {
  accepts: { zero: '0x0', 'any size': `0x1${'0'.repeat(80)}` },
  refuses: { 'leading zeros': '0x00', 'upper case': '0xA', 'no digits': '0x', decimal: '10', 'a number': 10 },
})

judge('common#/$defs/bytes', {
  accepts: { none: '0x', 'any case': '0xaBcD' },
  refuses: { 'half a byte': '0xabc', 'no 0x': 'abcd', 'upper-case 0X': '0XABCD', 'a line end': '0xab\n' },
})

judge('common#/$defs/blockNumber', {
  accepts: { 'the largest safe integer': Number.MAX_SAFE_INTEGER, '64 bits': '0xffffffffffffffff' },
  // Beyond it two numbers read as one: the block asked for would not be the block answered.
  refuses: { 'an unsafe integer': 2 ** 53, '65 bits': '0x10000000000000000' },
})

judge('common#/$defs/unixSeconds', {
  accepts: { 'a time': 1767225600 },
  refuses: { 'an unsafe integer': 2 ** 53, negative: -1, 'a string': '1767225600' },
})

const checksummed = '0x5FbDB2315678afecb367f032d93F642f64180aa3'
const address = checksummed.toLowerCase()
const hash = `0x${'ab'.repeat(32)}`
const params = '#/properties/params'

for (const method of ['eth_blockNumber', 'eth_chainId', 'eth_gasPrice', 'eth_maxPriorityFeePerGas']) {
  judge(`rpc-method/${method}${params}`, {
    accepts: { nothing: [] },
    refuses: { 'a parameter': ['latest'], null: [null], 'an object': {}, 'no list': null },
  })
}

judge(`rpc-method/eth_getBalance${params}`, {
  accepts: {
    'lower case and a tag': [address, 'latest'],
    'checksummed case': [checksummed, 'earliest'],
    pending: [address, 'pending'],
    "the standard's finalized": [address, 'finalized'],
    'a quantity': [address, '0x1b4'],
    'block zero': [address, '0x0'],
    'an integer': [address, 436],
  },
  refuses: {
    'no block': [address],
    'a third parameter': [address, 'latest', null],
    'a short address': [address.slice(0, -2), 'latest'],
    'an address without 0x': [address.slice(2), 'latest'],
    'an address that is not hex': [`${address.slice(0, -1)}g`, 'latest'],
    'an unknown tag': [address, 'newest'],
    'leading zeros': [address, '0x01b4'],
    'a number without 0x': [address, '436'],
    'hex without digits': [address, '0x'],
    'a negative number': [address, -1],
    'a fraction': [address, 1.5],
    'more than 64 bits': [address, `0x1${'0'.repeat(16)}`],
    'null as block': [address, null],
  },
})

for (const method of ['eth_getTransactionByHash', 'eth_getTransactionReceipt']) {
  judge(`rpc-method/${method}${params}`, {
    accepts: { 'a hash': [hash], 'upper case': [`0x${'AB'.repeat(32)}`] },
    refuses: {
      nothing: [],
      'a second parameter': [hash, true],
      'a short hash': [hash.slice(0, -2)],
      'a long hash': [`${hash}ab`],
      'no 0x': [hash.slice(2)],
      'a number': [1],
      null: [null],
    },
  })
}

const page = { logIndex: '0x3e7', blockNumber: '0x1b4' }

judge(`rpc-method/eth_getLogs${params}`, {
  accepts: {
    'an empty filter': [{}],
    'one address': [{ address: checksummed }],
    'several addresses': [{ address: [address, checksummed] }],
    'no address': [{ address: null }],
    'no topics': [{ topics: [] }],
    'null topics': [{ topics: null }],
    'wildcard, topic and alternatives': [{ topics: [null, hash, [hash, hash], []] }],
    'a range': [{ fromBlock: '0x0', toBlock: 'latest' }],
    'a block hash': [{ blockHash: hash, address }],
    'paging as an entry has it': [{ paging_options: page }],
    'paging in bare hex': [{ paging_options: { logIndex: '3e7', blockNumber: '1B4' } }],
    'a third paging key, a string': [{ paging_options: { ...page, transactionIndex: '0x0' } }],
    'a third paging key, a number': [{ paging_options: { ...page, transactionIndex: 0 } }],
  },
  refuses: {
    nothing: [],
    'no object': ['latest'],
    null: [null],
    'a second parameter': [{}, {}],
    'an unknown member': [{ adress: address }],
    'a malformed address': [{ address: '0x12' }],
    'a malformed address among others': [{ address: [address, '0x12'] }],
    'a short topic': [{ topics: ['0xab'] }],
    'a topic that is a number': [{ topics: [1] }],
    'topics nested too deep': [{ topics: [[[hash]]] }],
    'five topics': [{ topics: [null, null, null, null, hash] }],
    'topics as a string': [{ topics: hash }],
    'a malformed block': [{ fromBlock: 'first' }],
    'a block hash beside a range': [{ blockHash: hash, fromBlock: '0x0' }],
    'a block hash beside its end': [{ blockHash: hash, toBlock: 'latest' }],
    'one paging key alone': [{ paging_options: { logIndex: '0x3e7' } }],
    'the other paging key alone': [{ paging_options: { blockNumber: '0x1b4' } }],
    'empty paging options': [{ paging_options: {} }],
    'a paging key that is a number': [{ paging_options: { ...page, logIndex: 999 } }],
    'a paging key without digits': [{ paging_options: { ...page, logIndex: '0x' } }],
    'a paging key that is not hex': [{ paging_options: { ...page, blockNumber: '0xzz' } }],
    'a paging key beyond 64 bits': [{ paging_options: { ...page, blockNumber: `1${'0'.repeat(16)}` } }],
  },
})

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

const [legacy, accessListed, feeMarket, blob, setCode, pending] = [0, 1, 2, 3, 4, 5].map((index) =>
  exampleOf('ethereum/transaction', index),
) as [Tx, Tx, Tx, Tx, Tx, Tx]
type Tx = Record<string, unknown>

const ofAll = [
  'type',
  'hash',
  'from',
  'blockHash',
  'blockNumber',
  'transactionIndex',
  'nonce',
  'gas',
  'value',
  'input',
  'r',
  's',
]
const ofTyped = [...ofAll, 'chainId', 'accessList', 'yParity']
const ofFeeMarket = [...ofTyped, 'maxFeePerGas', 'maxPriorityFeePerGas']

const malformed = {
  to: '0x12',
  from: null,
  hash: '0x12',
  blockHash: '0x12',
  blockNumber: '436',
  blockTimestamp: '1767225600',
  transactionIndex: '0',
  nonce: 0,
  value: '0x00',
  input: '0x1',
  type: '0x5',
  creates: null,
}
const malformedTyped = { ...malformed, accessList: null, chainId: null, yParity: '0x2', v: '0x2' }

const kinds: readonly [name: string, transaction: Tx, required: readonly string[], malformed: Tx][] = [
  ['legacy', legacy, [...ofAll, 'gasPrice', 'v'], { ...malformed, accessList: [] }],
  ['access list', accessListed, [...ofTyped, 'gasPrice'], { ...malformedTyped, maxFeePerGas: '0x1' }],
  ['fee market', feeMarket, [...ofFeeMarket, 'gasPrice'], { ...malformedTyped, authorizationList: [] }],
  [
    'blob',
    blob,
    [...ofFeeMarket, 'to', 'maxFeePerBlobGas', 'blobVersionedHashes'],
    { ...malformedTyped, to: null, blobVersionedHashes: ['0x01'] },
  ],
  [
    'set code',
    setCode,
    [...ofFeeMarket, 'to', 'authorizationList'],
    { ...malformedTyped, to: null, authorizationList: [{}] },
  ],
]
for (const [name, transaction, required, faults] of kinds) {
  describe(name, () => {
    judge('ethereum/transaction', {
      accepts: { 'as it is': transaction, 'with a time': { ...transaction, blockTimestamp: '0x6b01486d' } },
      refuses: { ...lacking(transaction, required), ...altered(transaction, faults) },
    })
  })
}

judge('rpc-method/eth_getTransactionByHash#/properties/result', {
  accepts: {
    null: null,
    pending,
    'legacy since EIP-155': { ...legacy, chainId: '0x2a', v: '0x77' },
    'a contract creation': { ...feeMarket, to: null },
    'no deprecated v': without(feeMarket, 'v'),
  },
  refuses: {
    ...lacking(pending, ['blockHash', 'blockNumber', 'transactionIndex']),
    'half pending': { ...feeMarket, blockHash: null },
    'mined without a number': { ...feeMarket, blockNumber: null },
    'mined without an index': { ...feeMarket, transactionIndex: null },
    'mined at no time': { ...feeMarket, blockTimestamp: null },
    ...altered(pending, { blockNumber: '0x1', blockTimestamp: '0x1', transactionIndex: '0x0' }),
    'a transaction in a list': [feeMarket],
  },
})

const entry = (accessListed['accessList'] as Tx[])[0] ?? {}
judge('ethereum/transaction#/$defs/accessList', {
  accepts: { 'an entry': [entry], 'no entry': [] },
  refuses: {
    'a storage key of another size': [{ ...entry, storageKeys: ['0x0'] }],
    'no storage keys': [without(entry, 'storageKeys')],
    'no address': [without(entry, 'address')],
    'an unknown member': [{ ...entry, note: 1 }],
  },
})

const authorization = (setCode['authorizationList'] as Tx[])[0] ?? {}
judge('ethereum/transaction#/$defs/authorization', {
  accepts: {
    'an authorization': authorization,
    'a yParity that no signature has': { ...authorization, yParity: '0xff' },
  },
  refuses: {
    ...lacking(authorization, ['chainId', 'nonce', 'address', 'yParity', 'r', 's']),
    ...altered(authorization, { yParity: '0x100', address: null, note: 1 }),
  },
})
