import { expect } from 'chai'
import type { ExecuteRequest, QuotaResponse, RpcMethodParams, RpcMethodResult } from '../index.ts'
import { compiler } from './ajv.ts'

const compile = compiler()
const address = '0x5fbdb2315678afecb367f032d93f642f64180aa3'

// That these compile is the first half of the test; that the schemas agree is the second.
const params = {
  eth_blockNumber: [],
  eth_chainId: [],
  eth_gasPrice: [],
  eth_maxPriorityFeePerGas: [],
  eth_getBalance: [address, 'latest'],
  eth_getLogs: [{ address: [address], topics: [null], paging_options: { logIndex: '0x0', blockNumber: '0x1' } }],
  eth_getTransactionByHash: [`0x${'ab'.repeat(32)}`],
  eth_getTransactionReceipt: [`0x${'ab'.repeat(32)}`],
} satisfies Partial<RpcMethodParams>
const results = {
  eth_chainId: '0x2a',
  eth_getLogs: [],
  eth_getTransactionReceipt: null,
} satisfies Partial<RpcMethodResult>
const request: ExecuteRequest = { address, transaction: { abi: '0x7f23690c', signature: '0x', nonce: '1' } }
const quota: QuotaResponse = { quota: 1, unit: 'lyx' }

describe('generated types', () => {
  it('agree with the schemas', () => {
    for (const [method, value] of Object.entries(params)) {
      expect(compile(`rpc-method/${method}#/properties/params`)(value), method).to.be.true
    }
    for (const [method, value] of Object.entries(results)) {
      expect(compile(`rpc-method/${method}#/properties/result`)(value), method).to.be.true
    }
    expect(compile('relay/execute#/properties/request')(request)).to.be.true
    expect(compile('quota/quota#/properties/response')(quota)).to.be.true
  })
})
