import { expect } from 'chai'
import { startRpcFront, type RpcFront } from '../support/rpc-server.ts'

const ADDRESS = `0x${'11'.repeat(20)}`
const HASH = `0x${'22'.repeat(32)}`
const PAGING =
  'the next page is asked for by paging_options in the filter, with logIndex and blockNumber as hex strings, ' +
  'as they stand in the last entry received'
const MEMBERS = 'there is fromBlock, toBlock, blockHash, address, topics and paging_options'
const ADDRESS_WORDS = 'must be data of 20 bytes in any letter case'
const HASH_WORDS = 'must be data of 32 bytes in any letter case: a hash, a topic, a storage key'
const BLOCK_WORDS =
  'must be a block by number (hex with 0x and without leading zeros, or an integer) or by name (latest, earliest, ' +
  'pending, safe or finalized)'
const KEY_WORDS = 'must be an unsigned integer of at most 64 bits in hex, with or without 0x'

/** What is refused, the place that is named, and the words; with the hint at paging or without. */
const cases: [method: string, params: unknown[], field: string, words: string, hint?: typeof PAGING][] = [
  ['eth_getLogs', [], 'params', 'must hold filter'],
  ['eth_getLogs', [{}, {}], 'params', 'must hold filter and nothing more'],
  ['eth_getLogs', ['latest'], 'params/0', 'must be an object'],
  ['eth_getLogs', [null], 'params/0', 'must be an object'],
  ['eth_getLogs', [{ adress: ADDRESS }], 'params/0/adress', `is unknown: ${MEMBERS}`],
  ['eth_getLogs', [{ ['a'.repeat(5000)]: 1 }], `params/0/${'a'.repeat(100)}`, `is unknown: ${MEMBERS}`],
  ['eth_getLogs', [{ address: 5 }], 'params/0/address', 'must be null, a string or a list'],
  ['eth_getLogs', [{ address: '0x12' }], 'params/0/address', ADDRESS_WORDS],
  ['eth_getLogs', [{ address: [ADDRESS, '0x12'] }], 'params/0/address/1', ADDRESS_WORDS],
  ['eth_getLogs', [{ address: [ADDRESS, 5] }], 'params/0/address/1', 'must be a string'],
  ['eth_getLogs', [{ topics: HASH }], 'params/0/topics', 'must be null or a list'],
  ['eth_getLogs', [{ topics: {} }], 'params/0/topics', 'must be null or a list'],
  ['eth_getLogs', [{ topics: ['0x12'] }], 'params/0/topics/0', HASH_WORDS],
  ['eth_getLogs', [{ topics: [null, 7] }], 'params/0/topics/1', 'must be null, a string or a list'],
  ['eth_getLogs', [{ topics: [[HASH, '0x1']] }], 'params/0/topics/0/1', HASH_WORDS],
  ['eth_getLogs', [{ topics: [null, null, null, null, null] }], 'params/0/topics', 'must hold 4 at most'],
  ['eth_getLogs', [{ fromBlock: 'newest' }], 'params/0/fromBlock', BLOCK_WORDS],
  ['eth_getLogs', [{ fromBlock: '0x01' }], 'params/0/fromBlock', BLOCK_WORDS],
  ['eth_getLogs', [{ toBlock: null }], 'params/0/toBlock', 'must be a string or an integer'],
  ['eth_getLogs', [{ toBlock: -1 }], 'params/0/toBlock', BLOCK_WORDS],
  ['eth_getLogs', [{ blockHash: '0x1' }], 'params/0/blockHash', HASH_WORDS],
  ['eth_getLogs', [{ blockHash: HASH, fromBlock: '0x1' }], 'params/0/fromBlock', 'and blockHash exclude each other'],
  ['eth_getLogs', [{ blockHash: HASH, toBlock: '0x1' }], 'params/0/toBlock', 'and blockHash exclude each other'],
  ['eth_getLogs', [{ fromBlock: '0x2', toBlock: '0x1' }], 'params/0/fromBlock', 'lies after toBlock'],

  ['eth_getLogs', [{ paging: {} }], 'params/0/paging', `is unknown: ${MEMBERS}`, PAGING],
  ['eth_getLogs', [{ pagination: {} }], 'params/0/pagination', `is unknown: ${MEMBERS}`, PAGING],
  ['eth_getLogs', [{ pagingOptions: {} }], 'params/0/pagingOptions', `is unknown: ${MEMBERS}`, PAGING],
  ['eth_getLogs', [{ page: 2 }], 'params/0/page', `is unknown: ${MEMBERS}`, PAGING],
  ['eth_getLogs', [{ logIndex: '0x1' }], 'params/0/logIndex', `is unknown: ${MEMBERS}`, PAGING],
  ['eth_getLogs', [{ cursor: '0x1' }], 'params/0/cursor', `is unknown: ${MEMBERS}`, PAGING],
  ['eth_getLogs', [{}, { logIndex: '0x1', blockNumber: '0x1' }], 'params', 'must hold filter and nothing more', PAGING],
  ['eth_getLogs', [{}, { paging_options: {} }], 'params', 'must hold filter and nothing more', PAGING],
  ['eth_getLogs', [{ paging_options: null }], 'params/0/paging_options', 'must be an object', PAGING],
  ['eth_getLogs', [{ paging_options: [] }], 'params/0/paging_options', 'must be an object', PAGING],
  ['eth_getLogs', [{ paging_options: {} }], 'params/0/paging_options/logIndex', 'is missing', PAGING],
  [
    'eth_getLogs',
    [{ paging_options: { logIndex: '0x1' } }],
    'params/0/paging_options/blockNumber',
    'is missing',
    PAGING,
  ],
  [
    'eth_getLogs',
    [{ paging_options: { logIndex: 1, blockNumber: '0x1' } }],
    'params/0/paging_options/logIndex',
    'must be a string',
    PAGING,
  ],
  [
    'eth_getLogs',
    [{ paging_options: { logIndex: '0x', blockNumber: '0x1' } }],
    'params/0/paging_options/logIndex',
    KEY_WORDS,
    PAGING,
  ],

  ['eth_chainId', [1], 'params', 'must be empty'],
  ['eth_getBalance', [ADDRESS], 'params', 'must hold address and block'],
  ['eth_getBalance', [ADDRESS, 'latest', 1], 'params', 'must hold address and block and nothing more'],
  ['eth_getBalance', ['0x1', 'latest'], 'params/0', ADDRESS_WORDS],
  ['eth_getBalance', [ADDRESS, {}], 'params/1', 'must be a string or an integer'],
  ['eth_getTransactionByHash', [7], 'params/0', 'must be a string'],
  ['eth_getTransactionReceipt', ['0x7'], 'params/0', HASH_WORDS],
]

describe('faultOf', () => {
  let front: RpcFront
  // Nobody is there: what is refused by its form never asks the node.
  before(async () => (front = await startRpcFront(['http://127.0.0.1:1'])))
  after(() => front.close())

  for (const [method, params, field, words, hint] of cases) {
    it(`${method} ${JSON.stringify(params).replaceAll(ADDRESS, 'A').replaceAll(HASH, 'H').slice(0, 100)}`, async () => {
      const thrown = await front
        .call(method, ...params)
        .catch((error: unknown) => error as { code: number; data: unknown })
      const message = `Invalid params: ${field} ${words}${hint === undefined ? '' : `; ${hint}`}`
      expect(thrown).to.deep.include({ code: -32602, message, data: { field } })
    })
  }
})
