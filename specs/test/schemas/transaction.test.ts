import { altered, exampleOf, judge, lacking, without } from './judge.ts'

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
