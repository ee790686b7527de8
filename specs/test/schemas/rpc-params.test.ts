import { judge } from './judge.ts'

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
