import { expect } from 'chai'
import { createHash } from 'node:crypto'
import { promisify } from 'node:util'
import { gzip as packGzip, gzipSync } from 'node:zlib'
import { ServiceError } from '../../core/errors.ts'
import type { Exchange } from '../../http/fast-lane.ts'
import { jsonRpcEndpoint } from '../../http/json-rpc.ts'
import { incoming } from '../support/incoming.ts'
import { countingTurns } from '../support/turns.ts'
import {
  largeLog,
  rpcMethod,
  silent,
  startRpcServer,
  type Body,
  type RpcServer,
  startRpcFront,
  type RpcFront,
} from '../support/rpc-server.ts'

const ADDRESS = '0x5FbDB2315678afecb367f032d93F642f64180aa3'

interface Answer {
  jsonrpc: string
  id: unknown
  result?: unknown
  error?: { code: number; message: string; data?: unknown }
}

describe('jsonRpcEndpoint', () => {
  let server: RpcServer
  let calls: unknown[][] = []

  before(async () => {
    server = await startRpcServer([
      rpcMethod('eth_chainId', (params) => (calls.push([...params]), '0x7a69')),
      rpcMethod('eth_getBalance', (params) => (calls.push([...params]), '0x1')),
      rpcMethod('eth_gasPrice', () => 'cheap'),
      rpcMethod('eth_blockNumber', () => {
        throw new Error('secret of the inside')
      }),
      rpcMethod('eth_maxPriorityFeePerGas', () => {
        throw new ServiceError('UPSTREAM_UNAVAILABLE', 'the node is busy', { retryAfterSeconds: 1.5 })
      }),
      rpcMethod('eth_getLogs', (params) => (calls.push([...params]), [])),
    ])
  })
  beforeEach(() => (calls = []))
  after(() => server.close())

  const send = async (body: Body, headers?: Record<string, string>) => {
    const { status, json } = await server.post(body, headers)
    return { status, answer: json as Answer }
  }
  const request = (members: object) => JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'eth_chainId', ...members })

  async function expectRefusal(body: Body, code: number, id: unknown = null) {
    const { status, answer } = await send(body)
    expect(status).to.equal(200)
    expect(answer).to.have.all.keys('jsonrpc', 'id', 'error')
    expect(answer.jsonrpc).to.equal('2.0')
    expect(answer.id).to.deep.equal(id)
    expect(answer.error?.code).to.equal(code)
    expect(answer.error?.message).to.be.a('string').that.is.not.empty
    expect(calls, 'reached a handler').to.be.empty
  }

  it('gives one of those who wait for the same large answer a turn after the other, and all of them the same bytes', async () => {
    const logs = Promise.resolve(Object.freeze([largeLog]))
    const answer = jsonRpcEndpoint({ methods: new Map([rpcMethod('eth_getLogs', () => logs)]) })
    const body = request({ method: 'eth_getLogs', params: [{}] })
    const answers = await countingTurns((turn) =>
      Promise.all(
        Array.from({ length: 10 }, async () => {
          const exchange = { request: incoming(body), log: silent } as Exchange
          return { parts: await answer(exchange), turn: turn() }
        }),
      ),
    )
    expect(new Set(answers.map(({ turn }) => turn))).to.have.property('size', 10)
    expect(new Set(answers.map(({ parts }) => parts[1]))).to.have.property('size', 1)
  })

  it('answers a request', async () => {
    const { status, answer } = await send(request({ params: [] }))
    expect(status).to.equal(200)
    expect(answer).to.deep.equal({ jsonrpc: '2.0', id: 1, result: '0x7a69' })
  })

  for (const [name, body] of [
    ['empty', ''],
    ['blank', ' \n'],
    ['broken', '{"jsonrpc":"2.0","id":1'],
    ['two values', '{} {}'],
    ['not UTF-8', Uint8Array.from([0x22, 0xff, 0x22])],
    ['UTF-16', Buffer.from('{"a":1}', 'utf16le')],
  ] as const) {
    it(`refuses a body that is ${name} as a parse error`, () => expectRefusal(body, -32700))
  }

  for (const body of ['null', 'true', '1', '1.5', '12345678901234567890', '"x"', '[]', '{}']) {
    it(`refuses ${body} as an invalid request`, () => expectRefusal(body, -32600))
  }

  for (const id of ['true', 'false', '{}', '[]', '[1]']) {
    it(`refuses the id ${id}, and echoes null`, () =>
      expectRefusal(`{"jsonrpc":"2.0","id":${id},"method":"eth_chainId"}`, -32600))
  }
  it('refuses a request without an id', () => expectRefusal('{"jsonrpc":"2.0","method":"eth_chainId"}', -32600))

  for (const id of [
    '0',
    '-7',
    '9007199254740993',
    '115792089237316195423570985008687907853269984665640564039457584007913129639935',
    '1.5',
    '1.50',
    '1e3',
    '-0',
    'null',
    '""',
    '"3f0c6d1e-2f0b-4d8e-9d0e-0a7d2f9f1c55"',
    '"\\" \\\\ \\u0000 \\ud800 </script> é"',
  ]) {
    it(`echoes the id ${id} unaltered`, async () => {
      const { text } = await server.post(`{"jsonrpc":"2.0","id":${id},"method":"eth_chainId"}`)
      const echoed = /"id":(.*),"result"/.exec(text)?.[1] ?? ''
      if (id.startsWith('"')) expect(JSON.parse(echoed)).to.equal(JSON.parse(id))
      else expect(echoed).to.equal(id)
    })
  }

  for (const params of ['', '"params":[],', '"params":null,']) {
    it(`takes ${params || 'no params'} as none`, async () => {
      const { answer } = await send(`{"jsonrpc":"2.0",${params}"id":1,"method":"eth_chainId"}`)
      expect(answer.result).to.equal('0x7a69')
      expect(calls).to.deep.equal([[]])
    })
  }
  for (const params of ['{}', '{"0":1}', '"latest"', '7', 'true']) {
    it(`refuses the params ${params}`, () =>
      expectRefusal(`{"jsonrpc":"2.0","id":1,"method":"eth_chainId","params":${params}}`, -32602, 1))
  }

  for (const version of [undefined, '1.0', 2, '2', null]) {
    it(`refuses jsonrpc ${JSON.stringify(version)}, and echoes the id`, () =>
      expectRefusal(request({ jsonrpc: version, id: 'a' }), -32600, 'a'))
  }
  for (const method of [undefined, null, 1, {}, []]) {
    it(`refuses the method ${JSON.stringify(method)}`, () => expectRefusal(request({ method }), -32600, 1))
  }
  for (const method of ['eth_call', '', '__proto__', 'constructor', 'eth_chainid', ' eth_chainId']) {
    it(`does not know the method '${method}'`, async () => {
      await expectRefusal(request({ method }), -32601, 1)
      const { answer } = await send(request({ method }))
      expect(answer.error?.message).to.equal(`the method ${method} does not exist/is not available`)
    })
  }

  for (const params of [
    [1],
    [ADDRESS],
    [ADDRESS, 'latest', 1],
    [ADDRESS, 'Latest'],
    [ADDRESS, '0x01'],
    [ADDRESS, '0x'],
    [ADDRESS, -1],
    [ADDRESS, 1.5],
    [ADDRESS, null],
    [ADDRESS.slice(0, -1), 'latest'],
    [`${ADDRESS}00`, 'latest'],
    [ADDRESS.slice(2), 'latest'],
    [null, 'latest'],
    ['latest', ADDRESS],
  ]) {
    it(`refuses the params ${JSON.stringify(params)} of eth_getBalance`, () =>
      expectRefusal(request({ method: 'eth_getBalance', params }), -32602, 1))
  }
  it('names the faulty parameter', async () => {
    const { answer } = await send(request({ method: 'eth_getBalance', params: [ADDRESS, 'newest'] }))
    expect(answer.error?.message).to.contain('params/1')
    expect(answer.error?.data).to.deep.equal({ field: 'params/1' })
  })
  it('refuses numbers that are no integers, or too large, by their value', async () => {
    for (const block of ['1.5', '1e400', '12345678901234567890']) {
      await expectRefusal(
        `{"jsonrpc":"2.0","id":1,"method":"eth_getBalance","params":["${ADDRESS}",${block}]}`,
        -32602,
        1,
      )
    }
    // A number object must not pass for the object that a filter is.
    await expectRefusal('{"jsonrpc":"2.0","id":1,"method":"eth_getLogs","params":[1.5]}', -32602, 1)
    await send(`{"jsonrpc":"2.0","id":1,"method":"eth_getBalance","params":["${ADDRESS}",1e1]}`)
    expect(calls).to.deep.equal([[ADDRESS, 10]])
  })
  it('takes members called __proto__ for what they are', async () => {
    await expectRefusal(
      '{"jsonrpc":"2.0","id":1,"method":"eth_getLogs","params":[{"__proto__":{"address":[1.5]}}]}',
      -32602,
      1,
    )
    expect(({} as { address?: unknown }).address).to.be.undefined
  })

  it('refuses what is nested deeper than 32', async () => {
    const nested = (levels: number) => '['.repeat(levels) + ']'.repeat(levels)
    await expectRefusal(`{"jsonrpc":"2.0","id":1,"method":"eth_chainId","params":${nested(32)}}`, -32600)
    await expectRefusal(`{"jsonrpc":"2.0","id":1,"method":"eth_chainId","params":${nested(31)}}`, -32602, 1)
    await expectRefusal(nested(400_000), -32600)
  })

  it('takes a list of 20,000, and refuses what holds more than 32,000 values', async () => {
    const withTopics = (length: number) =>
      request({ id: 1, method: 'eth_getBalance', params: Array.from({ length }, () => ADDRESS) })
    await expectRefusal(withTopics(20_000), -32602, 1)
    await expectRefusal(`{"jsonrpc":"2.0","id":1,"method":"eth_chainId","params":[${'[],'.repeat(32_000)}0]}`, -32600)
    await expectRefusal(`{${Array.from({ length: 16_000 }, (_, key) => `"${key}":0`).join(',')}}`, -32600)
  })

  for (const [batchLength, most] of [
    [10, 32_000],
    [2_000, 64_000],
  ] as const) {
    it(`takes ${most} values where a batch may have ${batchLength} calls`, async () => {
      const other = await startRpcServer([rpcMethod('eth_chainId', () => '0x7a69')], { batchLength })
      const withValues = (values: number) => request({ params: Array<number>(values).fill(1) })
      const refusal = async (values: number) => ((await other.post(withValues(values))).json as Answer).error?.message
      const told = [await refusal(most - 100), await refusal(most)]
      await other.close()
      expect(told[0]).not.to.include('values')
      expect(told[1]).to.include(`more than ${most} values`)
    })
  }

  describe('batch', () => {
    it('answers each element, in the order of the input', async () => {
      const { json } = await server.post(
        `[${request({ id: 3 })},1,${request({ id: 'b', method: 'eth_call' })},[],{"id":7},${request({ id: 1 })}]`,
      )
      const answers = json as Answer[]
      expect(answers.map(({ id, result, error }) => [id, result ?? error?.code])).to.deep.equal([
        [3, '0x7a69'],
        [null, -32600],
        ['b', -32601],
        [null, -32600],
        [7, -32600],
        [1, '0x7a69'],
      ])
    })
    it('takes 1,000, as viem sends them, and answers more with one error', async () => {
      const batch = (length: number) =>
        JSON.stringify(Array.from({ length }, (_, id) => JSON.parse(request({ id })) as unknown))
      const taken = (await server.post(batch(1000))).json as Answer[]
      expect(taken.map(({ id, result }) => [id, result])).to.deep.equal(
        Array.from({ length: 1000 }, (_, id) => [id, '0x7a69']),
      )
      calls = []
      const { status, json } = await server.post(batch(1001))
      expect(status).to.equal(200)
      expect(json).to.deep.include({ jsonrpc: '2.0', id: null }).and.nested.include({ 'error.code': -32600 })
      expect(calls).to.be.empty
    })
    it('answers a large one that is refused with less than it has', async () => {
      for (const body of [JSON.stringify(new Array<number>(200_000).fill(1)), `[${'{"id":1},'.repeat(50_000)}0]`]) {
        const { text } = await server.post(body)
        expect(text.length).to.be.lessThan(200)
        expect((JSON.parse(text) as Answer).error?.code).to.equal(-32600)
      }
    })
  })

  describe('numbers', () => {
    const digits = '7'.repeat(1_000_000)
    for (const [place, body] of Object.entries({
      'as the id': `{"jsonrpc":"2.0","id":${digits},"method":"eth_chainId"}`,
      'as a parameter': `{"jsonrpc":"2.0","id":1,"method":"eth_getBalance","params":["${ADDRESS}",${digits}]}`,
      'in a batch': `[{"jsonrpc":"2.0","id":1,"method":"eth_chainId","more":1e${digits}}]`,
    })) {
      it(`refuses a million digits ${place} before they are read`, () => expectRefusal(body, -32600))
    }
    it('refuses a million digits in strings where a number is meant', async () => {
      const params = [ADDRESS, `0x${digits}`]
      await expectRefusal(request({ method: 'eth_getBalance', params }), -32602, 1)
    })
    it('refuses an id that is a string of more than 1,000 characters', async () => {
      await expectRefusal(request({ id: 'x'.repeat(1001) }), -32600)
      expect((await send(request({ id: 'x'.repeat(1000) }))).answer.result).to.equal('0x7a69')
    })
  })

  it('says when to come again, where that is known', async () => {
    const retryAfterOf = async (body: string) => {
      const headers = { 'content-type': 'application/json' }
      const response = await fetch(server.url, { method: 'POST', headers, body })
      await response.arrayBuffer()
      return response.headers.get('retry-after')
    }
    const unavailable = request({ method: 'eth_maxPriorityFeePerGas' })
    expect(await retryAfterOf(unavailable)).to.equal('2')
    expect(await retryAfterOf(`[${request({})},${unavailable}]`)).to.equal('2')
    for (const other of [request({}), request({ method: 'eth_gasPrice' }), request({ method: 'eth_unheard' })])
      expect(await retryAfterOf(other)).to.equal(null)
  })

  describe('faults of our own', () => {
    it('never sends a result that breaks its schema, and does not ask to try again', async () => {
      const { status, answer } = await send(request({ method: 'eth_gasPrice' }))
      expect(status).to.equal(200)
      expect(answer.error?.code).to.equal(-32000)
    })
    it('tells nothing about an unexpected error', async () => {
      const { status, answer } = await send(request({ method: 'eth_blockNumber' }))
      expect(status).to.equal(200)
      expect(answer.error?.code).to.equal(-32000)
      expect(JSON.stringify(answer)).not.to.contain('secret')
    })
  })

  describe('HTTP', () => {
    for (const type of [
      'application/json; charset=utf-8',
      'Application/JSON;charset="UTF-8"',
      'application/json-rpc',
      'application/vnd.api+json',
    ]) {
      it(`takes ${type}`, async () => {
        expect((await send(request({}), { 'content-type': type })).answer.result).to.equal('0x7a69')
      })
    }
    it('takes a body without a content type', async () => {
      // A Blob without a type is the one body for which fetch sends no content type.
      expect((await send(new Blob([request({})]), {})).answer.result).to.equal('0x7a69')
    })
    for (const type of ['text/plain', 'application/x-www-form-urlencoded', 'application/json; charset=utf-16', 'x']) {
      it(`refuses ${type} with 415`, async () => {
        const { status, answer } = await send(request({}), { 'content-type': type })
        expect(status).to.equal(415)
        expect(answer).to.have.property('code', 'UNSUPPORTED_MEDIA_TYPE')
        expect(calls).to.be.empty
      })
    }
    for (const method of ['GET', 'PUT', 'DELETE', 'PATCH', 'HEAD']) {
      it(`refuses ${method} with 405 and Allow`, async () => {
        const response = await fetch(server.url, { method })
        expect(response.status).to.equal(405)
        expect(response.headers.get('allow')).to.equal('POST')
        await response.arrayBuffer()
      })
    }
    it('takes a body of 1 MiB and refuses a larger one with 413', async () => {
      const padded = (bytes: number) => request({}).padEnd(bytes)
      expect((await send(padded(1024 * 1024))).answer.result).to.equal('0x7a69')
      for (const bytes of [1024 * 1024 + 1, 8 * 1024 * 1024]) {
        const { status, answer } = await send(padded(bytes))
        expect(status).to.equal(413)
        expect(answer).to.have.property('code', 'PAYLOAD_TOO_LARGE')
      }
    })
    it('takes gzip within the same limit, and no more than 32 times what was sent', async () => {
      const gzip = { 'content-type': 'application/json', 'content-encoding': 'gzip' }
      expect((await send(gzipSync(request({})), gzip)).answer.result).to.equal('0x7a69')
      // Packed in another thread: here the time of idle connections would run out meanwhile.
      const large = await promisify(packGzip)(Buffer.alloc(200 * 1024 * 1024, ' '), { level: 1 })
      expect((await send(large, gzip)).status).to.equal(413)
      // Within the limit, and a thousand times what was sent.
      expect((await send(gzipSync(request({}).padEnd(1024 * 1024)), gzip)).status).to.equal(413)
      const many = Array.from({ length: 1000 }, (_, id) => {
        const address = `0x${createHash('sha1').update(String(id)).digest('hex')}`
        return { jsonrpc: '2.0', id, method: 'eth_getBalance', params: [address, 'latest'] }
      })
      const batch = JSON.stringify(many)
      expect((await send(gzipSync(batch), gzip)).answer).to.have.length(1000)
      const { status, answer } = await send('not gzip', gzip)
      expect([status, answer.error?.code]).to.deep.equal([200, -32700])
      const brotli = { 'content-type': 'application/json', 'content-encoding': 'br' }
      expect((await send('x', brotli)).status).to.equal(415)
    })
  })
})

const LOWER_ADDRESS = `0x${'11'.repeat(20)}`
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
  ['eth_getLogs', [{ adress: LOWER_ADDRESS }], 'params/0/adress', `is unknown: ${MEMBERS}`],
  ['eth_getLogs', [{ ['a'.repeat(5000)]: 1 }], `params/0/${'a'.repeat(100)}`, `is unknown: ${MEMBERS}`],
  ['eth_getLogs', [{ address: 5 }], 'params/0/address', 'must be null, a string or a list'],
  ['eth_getLogs', [{ address: '0x12' }], 'params/0/address', ADDRESS_WORDS],
  ['eth_getLogs', [{ address: [LOWER_ADDRESS, '0x12'] }], 'params/0/address/1', ADDRESS_WORDS],
  ['eth_getLogs', [{ address: [LOWER_ADDRESS, 5] }], 'params/0/address/1', 'must be a string'],
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
  ['eth_getBalance', [LOWER_ADDRESS], 'params', 'must hold address and block'],
  ['eth_getBalance', [LOWER_ADDRESS, 'latest', 1], 'params', 'must hold address and block and nothing more'],
  ['eth_getBalance', ['0x1', 'latest'], 'params/0', ADDRESS_WORDS],
  ['eth_getBalance', [LOWER_ADDRESS, {}], 'params/1', 'must be a string or an integer'],
  ['eth_getTransactionByHash', [7], 'params/0', 'must be a string'],
  ['eth_getTransactionReceipt', ['0x7'], 'params/0', HASH_WORDS],
]

describe('faultOf', () => {
  let front: RpcFront
  // Nobody is there: what is refused by its form never asks the node.
  before(async () => (front = await startRpcFront(['http://127.0.0.1:1'])))
  after(() => front.close())

  for (const [method, params, field, words, hint] of cases) {
    it(`${method} ${JSON.stringify(params).replaceAll(LOWER_ADDRESS, 'A').replaceAll(HASH, 'H').slice(0, 100)}`, async () => {
      const thrown = await front
        .call(method, ...params)
        .catch((error: unknown) => error as { code: number; data: unknown })
      const message = `Invalid params: ${field} ${words}${hint === undefined ? '' : `; ${hint}`}`
      expect(thrown).to.deep.include({ code: -32602, message, data: { field } })
    })
  }
})
