import { expect } from 'chai'
import { validatorOf } from '../../../core/validate.ts'
import { projectLog, projectReceipt, projectTransaction } from '../../../services/chain/project.ts'
import { toQuantity } from '../../../ethereum/quantity.ts'

const hash = (byte: string) => `0x${byte.repeat(32)}`
const address = (byte: string) => `0x${byte.repeat(20)}`

/** What geth tells of every mined transaction. */
const mined = {
  blockHash: hash('A1'),
  blockNumber: '0x10',
  blockTimestamp: '0x65000000',
  from: address('B1'),
  gas: '0x5208',
  hash: hash('a2'),
  input: '0xABcd',
  nonce: '0x0',
  to: address('b2'),
  transactionIndex: '0x0',
  value: '0x0',
  r: '0x00ab',
  s: '0x1',
}
const fees = { gasPrice: '0x3', maxFeePerGas: '0x5', maxPriorityFeePerGas: '0x1', chainId: '0x1' }

/** Of a time without types and status. */
const plainReceipt = {
  blockHash: hash('a1'),
  blockNumber: '0x10',
  contractAddress: null,
  cumulativeGasUsed: '0x5208',
  effectiveGasPrice: '0x3',
  from: address('b1'),
  gasUsed: '0x5208',
  logs: [],
  logsBloom: `0x${'00'.repeat(256)}`,
  to: address('b2'),
  transactionHash: hash('a2'),
  transactionIndex: '0x0',
}
const receipt = { ...plainReceipt, status: '0x1', type: '0x2' }

describe('projection', () => {
  const validator = validatorOf('first-error')
  const isTransaction = validator.compileKey('ethereum/transaction')
  const isReceipt = validator.compileKey('ethereum/receipt')
  const isLog = validator.compileKey('ethereum/log')

  describe('of a quantity', () => {
    for (const [raw, written] of [
      ['0x0', '0x0'],
      ['0x00', '0x0'],
      ['0x0A', '0xa'],
      [`0x${'0'.repeat(63)}1`, '0x1'],
      [255, '0xff'],
      [0, '0x0'],
      [-1, -1],
      [1.5, 1.5],
      [2 ** 53, 2 ** 53],
      ['0x', '0x'],
      ['10', '10'],
      [null, null],
      [undefined, undefined],
    ]) {
      it(`${JSON.stringify(raw)} is ${JSON.stringify(written)}`, () => expect(toQuantity(raw)).to.equal(written))
    }
  })

  describe('of a transaction', () => {
    const cases: [string, object, object][] = [
      ['of type 0', { ...mined, type: '0x0', gasPrice: '0x3', v: '0x25' }, { chainId: '0x1', v: '0x25', r: '0xab' }],
      ['of type 0 before EIP-155', { ...mined, type: '0x0', gasPrice: '0x3', v: '0x1b', chainId: null }, { v: '0x1b' }],
      ['of a time without types', { ...mined, gasPrice: '0x3', v: '0x1c' }, { type: '0x0' }],
      [
        'of type 1',
        {
          ...mined,
          type: '0x1',
          gasPrice: '0x3',
          chainId: '0x1',
          accessList: [{ address: address('C1'), storageKeys: [hash('C2')], more: 1 }],
          v: '0x1b',
        },
        { accessList: [{ address: address('c1'), storageKeys: [hash('c2')] }], yParity: '0x0', v: '0x0' },
      ],
      [
        'of type 2 without a list',
        { ...mined, ...fees, type: '0x2', v: '0x1' },
        { accessList: [], yParity: '0x1', v: '0x1' },
      ],
      [
        'of type 2, a creation',
        { ...mined, ...fees, type: '0x2', to: undefined, yParity: '0x0' },
        { to: null, v: '0x0' },
      ],
      [
        'of type 3',
        {
          ...mined,
          ...fees,
          type: '0x3',
          maxFeePerBlobGas: '0x07',
          blobVersionedHashes: [hash('0A')],
          accessList: [],
          yParity: '0x1',
          v: '0x1',
          sidecar: { blobs: [] },
        },
        { maxFeePerBlobGas: '0x7', blobVersionedHashes: [hash('0a')] },
      ],
      [
        'of type 4',
        {
          ...mined,
          ...fees,
          type: '0x4',
          accessList: [],
          yParity: '0x0',
          authorizationList: [
            { chainId: '0x0', address: address('D1'), nonce: '0x00', v: '0x1c', r: '0x01', s: '0x02', more: true },
          ],
        },
        {
          authorizationList: [
            { chainId: '0x0', address: address('d1'), nonce: '0x0', yParity: '0x1', r: '0x1', s: '0x2' },
          ],
        },
      ],
      [
        'that is pending',
        {
          ...mined,
          ...fees,
          type: '0x2',
          v: '0x0',
          blockHash: null,
          blockNumber: '0x11',
          blockTimestamp: '0x1',
          transactionIndex: '0x0',
        },
        { blockHash: null, blockNumber: null, transactionIndex: null },
      ],
    ]
    for (const [name, raw, expected] of cases) {
      it(name, () => {
        const projected = projectTransaction({ ...raw, creates: null, publicKey: '0x', condition: null })
        expect(isTransaction(projected), JSON.stringify(isTransaction.errors)).to.equal(true)
        expect(projected).to.deep.include(expected)
        expect(projected).not.to.have.any.keys('creates', 'publicKey', 'condition', 'sidecar')
      })
    }
    it('has no chain id before EIP-155', () => {
      expect(projectTransaction({ ...mined, gasPrice: '0x3', v: '0x1b', chainId: '0x1' })).not.to.have.property(
        'chainId',
      )
    })
    it('of an unknown type is nothing that the schema takes', () => {
      expect(isTransaction(projectTransaction({ ...mined, type: '0x7e' }))).to.equal(false)
    })
    it('keeps null, and what is nonsense for the schema to refuse', () => {
      expect(projectTransaction(null)).to.equal(null)
      for (const raw of ['0x', 5, [], { hash: 5 }]) expect(isTransaction(projectTransaction(raw))).to.equal(false)
    })
  })

  describe('of a receipt', () => {
    const cases: [string, object, (projected: object) => void][] = [
      ['as geth gives it', receipt, (projected) => expect(projected).to.deep.equal(receipt)],
      [
        'as anvil gives it',
        { ...receipt, blobGasPrice: '0x1', blockTimestamp: 1795247055 },
        (projected) => expect(projected).to.deep.equal(receipt),
      ],
      [
        'of a blob transaction',
        { ...receipt, type: '0x3', blobGasUsed: '0x020000', blobGasPrice: '0x1' },
        (projected) => expect(projected).to.include({ blobGasUsed: '0x20000', blobGasPrice: '0x1' }),
      ],
      [
        'before Byzantium',
        { ...plainReceipt, root: hash('EE') },
        (projected) => expect(projected).to.include({ root: hash('ee') }),
      ],
      [
        'with both status and root',
        { ...receipt, root: hash('ee') },
        (projected) => expect(projected).not.to.have.property('root'),
      ],
      [
        'of a creation',
        { ...receipt, to: undefined, contractAddress: address('F1') },
        (projected) => expect(projected).to.include({ to: null, contractAddress: address('f1') }),
      ],
      [
        'without a contract address',
        { ...receipt, contractAddress: undefined },
        (projected) => expect(projected).to.include({ contractAddress: null }),
      ],
    ]
    for (const [name, raw, check] of cases) {
      it(name, () => {
        const projected = projectReceipt({ ...raw, l1Fee: '0x1' })
        expect(isReceipt(projected), JSON.stringify(isReceipt.errors)).to.equal(true)
        check(projected ?? {})
      })
    }
    it('keeps null, and what is nonsense for the schema to refuse', () => {
      expect(projectReceipt(null)).to.equal(null)
      for (const raw of [
        '0x',
        {},
        { ...receipt, logs: null },
        { ...receipt, logs: [null] },
        { ...receipt, gasUsed: -1 },
      ]) {
        expect(isReceipt(projectReceipt(raw)), JSON.stringify(raw)).to.equal(false)
      }
    })
  })

  describe('of a log', () => {
    const log = {
      address: address('A1'),
      topics: [hash('B1')],
      data: '0xAB',
      blockHash: hash('C1'),
      blockNumber: '0x01',
      transactionHash: hash('D1'),
      transactionIndex: 0,
      logIndex: '0x0',
    }
    it('writes it as the standard does, without anything more', () => {
      const projected = projectLog({ ...log, blockTimestamp: '0x0a', transactionLogIndex: '0x0', type: 'mined' })
      expect(isLog(projected)).to.equal(true)
      expect(projected).to.deep.equal({
        address: address('a1'),
        topics: [hash('b1')],
        data: '0xab',
        blockHash: hash('c1'),
        blockNumber: '0x1',
        blockTimestamp: '0xa',
        transactionHash: hash('d1'),
        transactionIndex: '0x0',
        logIndex: '0x0',
        removed: false,
      })
    })
    it('keeps what is nonsense for the schema to refuse', () => {
      for (const raw of [null, '0x', { ...log, topics: null }, { ...log, topics: [null] }, { ...log, data: 1 }]) {
        expect(isLog(projectLog(raw)), JSON.stringify(raw)).to.equal(false)
      }
    })
  })
})
