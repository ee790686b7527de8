import { type Answer, errorOf, isServed, memberOf, objectOf } from '../../lib/answer.ts'
import { type CheckContext, clause } from '../../lib/clause.ts'
import { accountOf } from '../../lib/eth-rpc/accounts.ts'
import { youngBlock } from '../../lib/eth-rpc/head.ts'
import { knownTransactions } from '../../lib/eth-rpc/known-transactions.ts'
import { inventedMethod, type ListedMethod, sampleAddress } from '../../lib/eth-rpc/methods.ts'
import { isWithoutMeaning } from '../../lib/eth-rpc/prices.ts'
import { expectChainId, expectServed, requireRpcService } from '../../lib/eth-rpc/serve.ts'
import { quantity } from '../../lib/eth-rpc/values.ts'
import { expect } from '../../lib/expect.ts'
import { Untestable } from '../../lib/outcome.ts'

interface StandardRequest {
  readonly method: ListedMethod
  readonly params: readonly unknown[]
}

/**
 * One request for each listed method, as clients send it to any node. The two methods that take a hash are left out
 * where no mined transaction is known: the document does not say what a service answers to an unknown hash.
 */
async function inStandardFormat(t: CheckContext): Promise<StandardRequest[]> {
  const hashes = await knownTransactions(t).then(
    ([{ hash }]) => [hash],
    (error: unknown) => {
      if (error instanceof Untestable) return []
      throw error
    },
  )
  // The document does not show whether a filter may hold a tag, so the filter names the block by its number.
  const block = quantity(await youngBlock(t))
  return [
    { method: 'eth_blockNumber', params: [] },
    { method: 'eth_chainId', params: [] },
    { method: 'eth_gasPrice', params: [] },
    { method: 'eth_maxPriorityFeePerGas', params: [] },
    { method: 'eth_getBalance', params: [await accountOf(t), 'latest'] },
    { method: 'eth_getLogs', params: [{ address: sampleAddress, fromBlock: block, toBlock: block }] },
    ...hashes.flatMap((hash): StandardRequest[] => [
      { method: 'eth_getTransactionByHash', params: [hash] },
      { method: 'eth_getTransactionReceipt', params: [hash] },
    ]),
  ]
}

const methodsAtOnce = ['eth_chainId', 'eth_blockNumber', 'eth_gasPrice', 'eth_chainId'] as const
const rounds = 3

/** Bodies and headers that these clients send (ethers 6.17, viem 2.40, web3 4.16, cast 1.7.1). */
const chainIdOfClients: Readonly<Record<string, { readonly body: string; readonly headers: Record<string, string> }>> =
  {
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
const logsOfClients: Readonly<Record<string, Readonly<Record<string, unknown>>>> = {
  'ethers and web3': { address: sampleAddress, fromBlock: 'latest', toBlock: 'latest' },
  'viem and cast, with an empty list of topics': {
    address: sampleAddress,
    topics: [],
    fromBlock: 'latest',
    toBlock: 'latest',
  },
}

const chainIdRequest = { id: 1, jsonrpc: '2.0', method: 'eth_chainId', params: [] }
const json = { 'content-type': 'application/json' }

/** Wrong requests by their kind, in the words of the observation. */
const wrongRequests: Readonly<Record<string, (t: CheckContext) => Promise<Answer>>> = {
  'an unknown method': (t) => t.rpc.call(inventedMethod),
  'bad parameters': (t) => t.rpc.call('eth_getBalance', ['0x12', 'latest']),
  'bad JSON': (t) => t.rpc.sendRaw('{"id":1,'),
  'an empty body': (t) => t.rpc.sendRaw('', { headers: json }),
  GET: (t) => t.rpc.sendRaw(undefined, { method: 'GET', headers: {} }),
  PUT: (t) => t.rpc.send(chainIdRequest, { method: 'PUT' }),
  'the content type text/plain': (t) => t.rpc.send(chainIdRequest, { headers: { 'content-type': 'text/plain' } }),
  'no content type': (t) => t.rpc.send(chainIdRequest, { headers: {} }),
}

function formOf(answer: Answer): string {
  if (answer.failure) return answer.failure.message
  const body = objectOf(answer)
  const error = errorOf(answer)
  const type = answer.headers['content-type']?.split(';')[0] ?? 'no content type'
  if (error !== undefined) return `${answer.status}, error ${JSON.stringify(error).slice(0, 200)}`
  if (body && 'result' in body) return `${answer.status}, served`
  return `${answer.status}, ${type}, ${JSON.stringify(answer.text.slice(0, 120))}`
}

export default [
  clause('eth-rpc.endpoint.post', (check) => {
    check('POST of the request envelope is the successful operation', async (t) => {
      const { answer } = await expectChainId(t)
      if (answer.status !== 200) t.observe(`the successful operation is HTTP ${answer.status}`)
    })

    // A target that keeps what it answers in one place for all requests mixes them up.
    check('requests that come at once get each their own result', async (t) => {
      const { result: chainId } = await expectChainId(t)
      for (let round = 0; round < rounds; round++) {
        const answers = await Promise.all(methodsAtOnce.map((method) => t.rpc.call(method)))
        for (const [index, answer] of answers.entries()) {
          // The chain's id alone is the same whenever it is asked for.
          if (methodsAtOnce[index] !== 'eth_chainId' || !isServed(answer)) continue
          expect(String(memberOf(answer, 'result')), 'the id of the chain, asked for at once with other things')
            .shownBy(answer)
            .to.equal(String(chainId))
        }
      }
    })
  }),

  clause('eth-rpc.endpoint.standard-format', (check) => {
    const of = 'eth-rpc.endpoint.standard-format'
    // The order of members and the white space have no meaning in JSON.
    const spellings: Readonly<Record<string, string>> = {
      'in the order that ethers uses': '{"method":"eth_chainId","params":[],"id":7,"jsonrpc":"2.0"}',
      'in the order that web3 uses': '{"jsonrpc":"2.0","id":7,"method":"eth_chainId","params":[]}',
      'laid out over lines': '{\n  "id": 7,\n  "jsonrpc": "2.0",\n  "method": "eth_chainId",\n  "params": []\n}\n',
    }
    for (const [name, body] of Object.entries(spellings)) {
      check(`members ${name}`, async (t) => void (await expectChainId(t, { of, ask: () => t.rpc.sendRaw(body) })))
    }

    check('each listed method, as a node is asked for it', async (t) => {
      await expectChainId(t)
      for (const { method, params } of await inStandardFormat(t)) {
        if (!(await isWithoutMeaning(t, method))) await expectServed(t, method, params)
      }
    })
  }),

  clause('eth-rpc.clients', (check) => {
    for (const [client, { body, headers }] of Object.entries(chainIdOfClients)) {
      check(`eth_chainId as sent by ${client}`, async (t) => {
        await requireRpcService(t)
        await expectChainId(t, { of: 'eth-rpc.clients', ask: () => t.rpc.sendRaw(body, { headers }) })
      })
    }

    for (const [client, filter] of Object.entries(logsOfClients)) {
      check(`eth_getLogs as sent by ${client}`, async (t) => {
        await requireRpcService(t)
        expect(await t.rpc.call('eth_getLogs', [filter])).to.be.served
      })
    }
  }),

  clause('eth-rpc.errors.shape', (check) => {
    for (const [kind, ask] of Object.entries(wrongRequests)) {
      check(`how ${kind} is answered`, async (t) => t.observe(`${kind}: ${formOf(await ask(t))}`))
    }
  }),

  clause('eth-rpc.limits.rate', (check) => {
    check('which headers tell of a rate limit', async (t) => {
      const answer = await t.rpc.send(chainIdRequest, { takeRateLimit: true })
      const found = Object.entries(answer.headers).filter(([name]) => /rate-?limit|retry-after|quota/.test(name))
      if (answer.status === 429) t.observe('a request was refused with 429')
      t.observe(
        found.length === 0
          ? 'no header tells of a rate limit'
          : found.map(([name, value]) => `${name}: ${value}`).join(', '),
      )
    })
  }),

  clause('eth-rpc.auth', (check) => {
    check('whether a credential is asked for', async (t) => {
      const answer = await t.rpc.send(chainIdRequest)
      const challenge = answer.headers['www-authenticate']
      const asks = answer.status === 401 || answer.status === 403 || challenge !== undefined
      t.observe(
        asks
          ? `a credential is asked for: ${formOf(answer)}${challenge === undefined ? '' : `, ${challenge}`}`
          : 'no credential is asked for',
      )
    })
  }),
]
