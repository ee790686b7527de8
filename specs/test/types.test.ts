import { expect } from 'chai'
import {
  schemas,
  type ExecuteRequest,
  type QuotaResponse,
  type RpcMethod,
  type RpcMethodParams,
  type RpcMethodResult,
} from '../index.ts'
import { compiler } from './ajv.ts'

const compile = compiler()
const address = '0x5fbdb2315678afecb367f032d93f642f64180aa3'

// That these compile is the first half of the test; that the schemas agree is the second.
const params: RpcMethodParams = {
  eth_blockNumber: [],
  eth_chainId: [],
  eth_gasPrice: [],
  eth_maxPriorityFeePerGas: [],
  eth_getBalance: [address, 'latest'],
  eth_getLogs: [{ address: [address], topics: [null], paging_options: { logIndex: '0x0', blockNumber: '0x1' } }],
  eth_getTransactionByHash: [`0x${'ab'.repeat(32)}`],
  eth_getTransactionReceipt: [`0x${'ab'.repeat(32)}`],
}
const results: Pick<RpcMethodResult, 'eth_chainId' | 'eth_getLogs' | 'eth_getTransactionReceipt'> = {
  eth_chainId: '0x2a',
  eth_getLogs: [],
  eth_getTransactionReceipt: null,
}
const request: ExecuteRequest = { address, transaction: { abi: '0x7f23690c', signature: '0x', nonce: '1' } }
const quota: QuotaResponse = { quota: 1, unit: 'lyx' }

describe('generated types', () => {
  it('know every method', () => {
    const methods = Object.keys(schemas).filter((key) => key.startsWith('rpc-method/'))
    expect((Object.keys(params) as RpcMethod[]).map((method) => `rpc-method/${method}`)).to.have.members(methods)
  })

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
