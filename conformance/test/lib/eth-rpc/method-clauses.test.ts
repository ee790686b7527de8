import { expect } from 'chai'
import { schemas } from '../../../../specs/index.ts'
import { expectResultSchema } from '../../../lib/eth-rpc/method-clauses.ts'
import { Fault } from '../../../lib/outcome.ts'

type Members = Record<string, unknown>

function example(path: string): Members {
  const [first] = schemas[path]?.['examples'] as Members[]
  if (!first) throw new Error(`${path} has no example`)
  return first
}

function judge(method: Parameters<typeof expectResultSchema>[1], result: unknown) {
  const observed: string[] = []
  expectResultSchema({ observe: (text) => void observed.push(text) }, method, result)
  return observed
}

describe('expectResultSchema', () => {
  it('takes what the standard has', () => {
    expect(judge('eth_chainId', '0x7a69')).to.deep.equal([])
    expect(judge('eth_getTransactionByHash', null)).to.deep.equal([])
    expect(judge('eth_getTransactionByHash', example('ethereum/transaction'))).to.deep.equal([])
    expect(judge('eth_getTransactionReceipt', example('ethereum/receipt'))).to.deep.equal([])
    expect(judge('eth_getLogs', [example('ethereum/log')])).to.deep.equal([])
  })

  it('tells of members beyond the standard and does not judge them', () => {
    expect(judge('eth_getTransactionByHash', { ...example('ethereum/transaction'), extra: 1 })).to.deep.equal([
      'eth_getTransactionByHash has members beyond the standard: extra',
    ])
    const receipt = example('ethereum/receipt')
    const logs = [{ ...example('ethereum/log'), timeStamp: 1 }]
    expect(judge('eth_getTransactionReceipt', { ...receipt, logs, l1Fee: '0x1' })).to.deep.equal([
      'eth_getTransactionReceipt has members beyond the standard: l1Fee, timeStamp',
    ])
  })

  const wrong: [Parameters<typeof expectResultSchema>[1], unknown][] = [
    ['eth_chainId', '0x07a69'],
    ['eth_chainId', 31337],
    ['eth_getBalance', `0x1${'0'.repeat(64)}`],
    ['eth_getLogs', [{ ...example('ethereum/log'), logIndex: 0 }]],
    ['eth_getLogs', null],
    ['eth_getTransactionByHash', { ...example('ethereum/transaction'), nonce: 1 }],
    ['eth_getTransactionByHash', { ...example('ethereum/transaction'), type: '0x9' }],
    ['eth_getTransactionReceipt', { ...example('ethereum/receipt'), status: 1 }],
    ['eth_getTransactionReceipt', { ...example('ethereum/receipt'), logs: '0x' }],
  ]
  for (const [method, result] of wrong) {
    it(`finds what is wrong with ${method}: ${JSON.stringify(result).slice(0, 60)}`, () => {
      expect(() => judge(method, result)).to.throw(Fault)
    })
  }

  it('says which member of a transaction is missing', () => {
    const members = Object.entries(example('ethereum/transaction')).filter(([name]) => name !== 'nonce')
    expect(() => judge('eth_getTransactionByHash', Object.fromEntries(members))).to.throw(Fault, "'nonce'")
  })
})
