import { clause } from '../../lib/clause.ts'
import { expect } from '../../lib/expect.ts'
import { expectChainId } from '../../lib/eth-rpc/serve.ts'
import { requireRpcService } from '../../lib/eth-rpc/sample-requests.ts'
import { sampleAddress } from '../../lib/eth-rpc/methods.ts'

/** Bodies and headers that these clients send (ethers 6.17, viem 2.40, web3 4.16, cast 1.7.1). */
const chainId: Readonly<Record<string, { readonly body: string; readonly headers: Record<string, string> }>> = {
  ethers: {
    body: '{"method":"eth_chainId","params":[],"id":1,"jsonrpc":"2.0"}',
    headers: { 'content-type': 'application/json' },
  },
  'viem, without params': {
    body: '{"jsonrpc":"2.0","id":0,"method":"eth_chainId"}',
    headers: { 'content-type': 'application/json', accept: '*/*', 'sec-fetch-mode': 'cors', 'user-agent': 'node' },
  },
  'web3, with a string id': {
    body: '{"jsonrpc":"2.0","id":"5f8ea243-6ef4-45a4-8edc-3de28cff3994","method":"eth_chainId","params":[]}',
    headers: { 'content-type': 'application/json', accept: '*/*', 'user-agent': 'node-fetch/1.0' },
  },
  'axios and others, with the charset in the content type': {
    body: '{"jsonrpc":"2.0","id":7,"method":"eth_chainId","params":[]}',
    headers: { 'content-type': 'application/json; charset=utf-8' },
  },
  'cast, without params': {
    body: '{"method":"eth_chainId","id":0,"jsonrpc":"2.0"}',
    headers: { 'content-type': 'application/json', accept: '*/*', 'user-agent': 'foundry/1.7.1' },
  },
}

/** The body that each client sends for "the logs of this address". */
const logs: Readonly<Record<string, Readonly<Record<string, unknown>>>> = {
  'ethers and web3': { address: sampleAddress, fromBlock: 'latest', toBlock: 'latest' },
  'viem and cast, with an empty list of topics': {
    address: sampleAddress,
    topics: [],
    fromBlock: 'latest',
    toBlock: 'latest',
  },
}

export default [
  clause('eth-rpc.clients', (check) => {
    for (const [client, { body, headers }] of Object.entries(chainId)) {
      check(`eth_chainId as sent by ${client}`, async (t) => {
        await requireRpcService(t)
        await expectChainId(t, { of: 'eth-rpc.clients', ask: () => t.rpc.sendRaw(body, { headers }) })
      })
    }

    for (const [client, filter] of Object.entries(logs)) {
      check(`eth_getLogs as sent by ${client}`, async (t) => {
        await requireRpcService(t)
        expect(await t.rpc.call('eth_getLogs', [filter])).to.be.served
      })
    }
  }),
]
