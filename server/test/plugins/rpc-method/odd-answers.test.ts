import { expect } from 'chai'
import type { ServerResponse } from 'node:http'
import { startFakeNode, type FakeNode, type RpcRequest } from '../../support/fake-node.ts'
import { startRpcFront, type RpcFront } from '../../support/rpc-server.ts'

const hash32 = (byte: string) => `0x${byte.repeat(32)}`
const [HASH, OTHER, BLOCK, PARENT] = ['a1', 'a2', 'b1', 'b0'].map(hash32) as [string, string, string, string]
const ADDRESS = `0x${'11'.repeat(20)}`

const block = { number: '0x64', hash: BLOCK, parentHash: PARENT }
const place = { blockHash: BLOCK, blockNumber: '0x10', transactionIndex: '0x0' }
const log = {
  ...place,
  address: ADDRESS,
  topics: [],
  data: '0x',
  transactionHash: HASH,
  logIndex: '0x0',
  removed: false,
}
const transaction = {
  ...place,
  type: '0x0',
  hash: HASH,
  from: ADDRESS,
  to: ADDRESS,
  nonce: '0x0',
  gas: '0x5208',
  value: '0x0',
  input: '0x',
  gasPrice: '0x1',
  v: '0x1b',
  r: '0x1',
  s: '0x1',
}
const receipt = {
  ...place,
  type: '0x0',
  transactionHash: HASH,
  from: ADDRESS,
  to: ADDRESS,
  cumulativeGasUsed: '0x5208',
  gasUsed: '0x5208',
  contractAddress: null,
  logs: [log],
  logsBloom: `0x${'00'.repeat(256)}`,
  status: '0x1',
  effectiveGasPrice: '0x1',
}

/** What the node answers while it is well. */
const well: Record<string, unknown> = {
  web3_clientVersion: 'Geth/v1.16.0',
  eth_chainId: '0x1',
  eth_gasPrice: '0x5',
  eth_maxPriorityFeePerGas: '0x6',
  eth_getBalance: '0x7',
  eth_getBlockByNumber: block,
  eth_getTransactionByHash: transaction,
  eth_getTransactionReceipt: receipt,
  eth_getLogs: [log],
}

/** A question, the call of the node that it leads to, and the answer of a node that is well. */
const questions: [method: string, params: unknown[], asks: string, right: unknown][] = [
  ['eth_chainId', [], 'eth_chainId', '0x1'],
  ['eth_blockNumber', [], 'eth_getBlockByNumber', '0x64'],
  ['eth_gasPrice', [], 'eth_gasPrice', '0x5'],
  ['eth_maxPriorityFeePerGas', [], 'eth_maxPriorityFeePerGas', '0x6'],
  ['eth_getBalance', [ADDRESS, 'latest'], 'eth_getBalance', '0x7'],
  ['eth_getBalance', [ADDRESS, '0x10'], 'eth_getBalance', '0x7'],
  ['eth_getTransactionByHash', [HASH], 'eth_getTransactionByHash', transaction],
  ['eth_getTransactionReceipt', [HASH], 'eth_getTransactionReceipt', receipt],
  ['eth_getLogs', [{ fromBlock: '0x10', toBlock: '0x12' }], 'eth_getLogs', [log]],
]

type Trouble = (response: ServerResponse, call: RpcRequest) => void
const answering =
  (answer: object | string, status = 200): Trouble =>
  (response, { id }) =>
    response
      .writeHead(status)
      .end(typeof answer === 'string' ? answer : JSON.stringify({ jsonrpc: '2.0', id, ...answer }))
const error = (code: number, message: string, data?: unknown) => ({ error: { code, message, data } })

/** What nodes and what is in front of them answer on bad days. */
const troubles: [name: string, trouble: Trouble][] = [
  ...[{}, [], '0x', 'nonsense', '0xzz', 5.5, -1, true, `0x1${'0'.repeat(64)}`].map((result): [string, Trouble] => [
    `the result ${JSON.stringify(result).slice(0, 20)}`,
    answering({ result }),
  ]),
  ['header not found', answering(error(-32000, 'header not found'))],
  ['unknown block', answering(error(-39001, 'Unknown block'))],
  ['missing trie node', answering(error(-32000, 'missing trie node 1a3b (path ) state 0x12 is not available'))],
  ['an internal error, with a stack', answering(error(-32603, 'Internal error', 'MissingTrieNodeException: Node A'))],
  ['too many requests', answering(error(-32005, 'too many requests'))],
  ['an error as HTTP 400', answering(error(-32000, 'no'), 400)],
  ['an error as HTTP 500', answering(error(-32000, 'no'), 500)],
  ['an error as HTTP 429', answering(error(-32005, 'slow down'), 429)],
  ['an error without jsonrpc', answering('{"error":{"code":-32000,"message":"no"}}', 400)],
  ['an error that is a text', answering({ error: 'no' })],
  ['an error that is empty', answering({ error: {} })],
  ['HTTP 401 without JSON-RPC', answering('{"message":"no key"}', 401)],
  ['HTTP 404 in HTML', answering('<html>', 404)],
  ['HTTP 503', answering('', 503)],
  ['neither result nor error', answering({})],
  [
    'a list around the answer',
    (response, { id }) => response.end(JSON.stringify([{ jsonrpc: '2.0', id, result: '0x1' }])),
  ],
  ['another version', answering('{"jsonrpc":"1.0","id":1}')],
]

describe('methods in front of a node that answers oddly', () => {
  let node: FakeNode
  let front: RpcFront

  beforeEach(async () => {
    node = await startFakeNode(Object.fromEntries(Object.keys(well).map((name) => [name, () => well[name]])))
    front = await startRpcFront([node.url])
    await front.call('eth_blockNumber')
    await front.call('eth_gasPrice')
  })
  afterEach(async () => {
    await front.close()
    await node.close()
  })

  /** The node is unwell for calls of one method, and answers all others. */
  function spoil(method: string, trouble: Trouble): void {
    node.onRequest = (response, body) => {
      const calls = [body].flat()
      const spoilt = calls.find((call) => call.method === method)
      if (spoilt) return trouble(response, spoilt)
      const answers = calls.map(({ id, method: name }) => ({ jsonrpc: '2.0', id, result: well[name] ?? null }))
      response.end(JSON.stringify(Array.isArray(body) ? answers : answers[0]))
    }
  }
  const ask = async (method: string, params: unknown[]) => {
    const { status, json } = await front.post(JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }))
    expect(status).to.equal(200)
    return json as { result?: unknown; error?: { code: number; message: string } }
  }

  /** After a reorganisation nothing is answered from memory. */
  async function forget(): Promise<void> {
    for (const head of [{ ...block, hash: hash32('c1') }, block]) {
      well['eth_getBlockByNumber'] = head
      await ask('eth_blockNumber', [])
    }
  }

  for (const [name, trouble] of troubles) {
    it(`says so, and is right again afterwards: ${name}`, async () => {
      for (const [method, params, asks, right] of questions) {
        if (method === 'eth_getLogs' && name === 'the result []') continue
        await forget()
        spoil(asks, trouble)
        const spoilt = await ask(method, params)
        // What never changes may be known already.
        if (spoilt.result === undefined || method !== 'eth_chainId') {
          expect(spoilt.error?.code, `${method}: ${JSON.stringify(spoilt)}`).to.equal(-32000)
          expect(spoilt.error?.message).to.match(
            /^(?:Upstream unavailable|Server error): the node |^Upstream unavailable: /,
          )
          expect(spoilt.error?.message).not.to.match(/see the log|Cannot|undefined/)
        }
        node.onRequest = undefined
        expect((await ask(method, params)).result, method).to.deep.equal(right)
      }
    })
  }

  it('says that it is the node that has no block', async () => {
    spoil('eth_getBlockByNumber', answering({ result: null }))
    expect((await ask('eth_blockNumber', [])).error?.message).to.equal(
      'Upstream unavailable: the node has no latest block',
    )
  })

  it('tells null as null where there may be nothing, and as an error elsewhere', async () => {
    for (const [method, params, asks] of questions) {
      if (asks === 'eth_chainId') continue
      node.onRequest = undefined
      await forget()
      spoil(asks, answering({ result: null }))
      const { result, error: told } = await ask(method, params)
      if (method.startsWith('eth_getTransaction')) expect(result, method).to.equal(null)
      else expect(told?.code, method).to.equal(-32000)
    }
  })

  it('never hands on what belongs to another transaction', async () => {
    for (const [method, answer] of [
      ['eth_getTransactionByHash', { ...transaction, hash: OTHER }],
      ['eth_getTransactionReceipt', { ...receipt, transactionHash: OTHER }],
    ] as const) {
      spoil(method, answering({ result: answer }))
      expect((await ask(method, [HASH])).error?.message, method).to.match(/^Upstream unavailable: the node answers/)
      node.onRequest = undefined
      expect((await ask(method, [HASH])).result).not.to.equal(undefined)
    }
  })

  it('takes a receipt of what is not mined for none', async () => {
    const pending = { ...receipt, blockHash: null, blockNumber: null }
    spoil('eth_getTransactionReceipt', answering({ result: pending }))
    expect((await ask('eth_getTransactionReceipt', [HASH])).result).to.equal(null)
  })

  it('keeps nothing that lacks a member', async () => {
    spoil('eth_getTransactionReceipt', answering({ result: { ...receipt, cumulativeGasUsed: undefined } }))
    expect((await ask('eth_getTransactionReceipt', [HASH])).error?.code).to.equal(-32000)
    node.onRequest = undefined
    expect((await ask('eth_getTransactionReceipt', [HASH])).result).to.deep.equal(receipt)
  })
})
