import { Ajv2020 } from 'ajv/dist/2020.js'
import { expect } from 'chai'
import { createRandom, generateBodies } from '../../../testbed/generated-bodies.ts'
import { nodeKinds, type TestNode } from '../support/nodes.ts'
import { startRpcFront, type RpcFront } from '../support/rpc-server.ts'

const COUNT = 2000
const seed = Number(process.env['SEED'] ?? Math.floor(Math.random() * 2 ** 32))

const quantity = { type: 'string', pattern: '^0x(?:0|[1-9a-f][0-9a-f]*)$' }
const block = { anyOf: [quantity, { enum: ['latest', 'earliest', 'pending', 'safe', 'finalized'] }] }
const address = { type: 'string', pattern: '^0x[0-9a-f]{40}$' }
const hash = { type: 'string', pattern: '^0x[0-9a-f]{64}$' }
const oneOrMore = (item: object) => ({ anyOf: [item, { type: 'array', minItems: 2, items: item }] })
const tuple = (...items: object[]) =>
  items.length === 0 ? { maxItems: 0 } : { prefixItems: items, minItems: items.length, items: false }

/** All that may reach the node. */
const upstreamSchemas: Record<string, object> = {
  web3_clientVersion: tuple(),
  eth_chainId: tuple(),
  eth_gasPrice: tuple(),
  eth_maxPriorityFeePerGas: tuple(),
  eth_getBlockByNumber: tuple(block, { const: false }),
  eth_getBlockByHash: tuple(hash, { const: false }),
  eth_getBalance: tuple(address, block),
  eth_getTransactionByHash: tuple(hash),
  eth_getTransactionReceipt: tuple(hash),
  eth_getLogs: tuple({
    type: 'object',
    additionalProperties: false,
    properties: {
      fromBlock: quantity,
      toBlock: quantity,
      blockHash: hash,
      address: oneOrMore(address),
      topics: { type: 'array', minItems: 1, maxItems: 4, items: { anyOf: [{ type: 'null' }, oneOrMore(hash)] } },
    },
  }),
}

const answerSchema = {
  type: 'object',
  required: ['jsonrpc', 'id'],
  additionalProperties: false,
  properties: {
    jsonrpc: { const: '2.0' },
    id: {},
    result: {},
    error: {
      type: 'object',
      required: ['code', 'message'],
      additionalProperties: false,
      // Clients try again on -32603 and -32005: nothing of this gets better by that.
      properties: { code: { enum: [-32700, -32600, -32601, -32602, -32001] }, message: { type: 'string' }, data: {} },
    },
  },
  oneOf: [{ required: ['result'] }, { required: ['error'] }],
}

describe(`${COUNT} generated bodies (SEED=${seed})`, () => {
  let node: TestNode
  let front: RpcFront
  const ajv = new Ajv2020({ strict: false })
  const isAnswer = ajv.compile(answerSchema)

  before(async () => {
    node = await nodeKinds.hardhat()
    front = await startRpcFront([node.rpcUrl])
  })
  after(async () => {
    await front.close()
    await node.close()
  })

  it('are all answered by the rules, and nothing malformed reaches the node', async () => {
    const bodies = generateBodies(COUNT, createRandom(seed))
    const worker = async () => {
      for (const body of bodies) {
        const { status, json, text } = await front.post(body)
        const answers = Array.isArray(json) ? (json as unknown[]) : [json]
        const isRight = status === 200 && answers.length > 0 && answers.every((answer) => isAnswer(answer))
        expect(isRight, `${body.toString('latin1')} -> ${status} ${text.slice(0, 500)}`).to.equal(true)
      }
    }
    await Promise.all(Array.from({ length: 8 }, worker))

    const validators = Object.fromEntries(
      Object.entries(upstreamSchemas).map(([method, schema]) => [method, ajv.compile({ type: 'array', ...schema })]),
    )
    for (const { method, params } of front.upstreamCalls) {
      expect(validators[method]?.(params), `${method} ${JSON.stringify(params)}`).to.equal(true)
    }
    expect(front.upstreamCalls.length).to.be.greaterThan(100)
    expect(await front.call('eth_chainId')).to.equal('0x7a69')
  })
})
