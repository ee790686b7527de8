import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'

/** A provider in front of a real node that gives no more logs than it says. */
export interface LimitedProvider {
  readonly url: string
  text: ProviderText
  limits: { readonly blocks?: number; readonly logs?: number }
  /** Calls of eth_getLogs since the last `forget`: how many blocks each asked for, and whether it was refused. */
  readonly queries: { readonly blocks: number; readonly refused: boolean }[]
  forget(): void
  close(): Promise<void>
}

interface Call {
  readonly id: unknown
  readonly method: string
  readonly params: [{ readonly fromBlock?: string; readonly toBlock?: string }]
}

interface Answer {
  readonly result?: unknown[]
  readonly error?: unknown
}

/** @param nodeUrl of a node that makes no blocks meanwhile: the provider asks it each question once */
export async function startLimitedProvider(nodeUrl: string, first: ProviderText): Promise<LimitedProvider> {
  const headers = { 'content-type': 'application/json' }
  const server = createServer((request, response) => {
    void (async () => {
      const chunks: Buffer[] = []
      for await (const chunk of request) chunks.push(chunk as Buffer)
      const body = Buffer.concat(chunks).toString()
      const call = JSON.parse(body) as Call
      const { result, text } = await answerTo(call, body)
      const refusal = refusalOf(call, result)
      const answer = refusal ?? `{"jsonrpc":"2.0","id":${JSON.stringify(call.id)},${text}}`
      response.writeHead(refusal ? (provider.text.status ?? 200) : 200, headers).end(answer)
    })().catch(() => response.destroy())
  })

  async function askNode(body: string) {
    const answer = (await (await fetch(nodeUrl, { method: 'POST', headers, body })).json()) as Answer
    const { result, error } = answer
    return { result, text: error ? `"error":${JSON.stringify(error)}` : `"result":${JSON.stringify(result)}` }
  }

  const known = new Map<string, ReturnType<typeof askNode>>()
  function answerTo({ method, params }: Call, body: string) {
    const question = JSON.stringify([method, params])
    const answer = known.get(question) ?? askNode(body)
    known.set(question, answer)
    return answer
  }

  function refusalOf({ id, method, params }: Call, result: readonly unknown[] | undefined): string | undefined {
    if (method !== 'eth_getLogs') return undefined
    const [{ fromBlock, toBlock }] = params
    const [from, to] = [Number(fromBlock ?? 0), Number(toBlock ?? 0)]
    const { blocks: mostBlocks = Infinity, logs: mostLogs = Infinity } = provider.limits
    const [blocks, logs] = [to - from + 1, result?.length ?? 0]
    const much =
      blocks > mostBlocks
        ? { from, to, count: blocks, limit: mostBlocks }
        : logs > mostLogs
          ? { from, to, count: logs, limit: mostLogs }
          : undefined
    provider.queries.push({ blocks, refused: much !== undefined })
    if (much === undefined) return undefined
    const { error, body } = provider.text
    return body?.(much) ?? JSON.stringify({ jsonrpc: '2.0', id, result: null, error: error?.(much) })
  }

  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const provider: LimitedProvider = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    text: first,
    limits: {},
    queries: [],
    forget: () => void (provider.queries.length = 0),
    close: async () => {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
  return provider
}
/** A query for logs that is more than a provider gives. */
interface TooMuch {
  readonly from: number
  readonly to: number
  /** Blocks asked for, logs found, and how many of these the provider takes. */
  readonly count: number
  readonly limit: number
}

/** What a provider answers to it. */
interface ProviderText {
  readonly provider: string
  readonly status?: number
  /** The error, or a whole body where the provider does not speak JSON-RPC. */
  readonly error?: (much: TooMuch) => unknown
  readonly body?: (much: TooMuch) => string
}

const hex = (value: number) => `0x${value.toString(16)}`
const withCommas = (value: number) => value.toLocaleString('en-US')
const suggestion = ({ from, limit }: TooMuch) => `[${hex(from)}, ${hex(from + limit - 1)}]`
const ID = '4ed94073-0317-4648-a167-107fba5f44b3'

const says =
  (code: number, message: (much: TooMuch) => string, data?: (much: TooMuch) => unknown) => (much: TooMuch) => ({
    code,
    message: message(much),
    ...(data && { data: data(much) }),
  })

/** Refusals of too many blocks, as they stand in public threads and sources of 2020 to 2026. */
export const rangeTexts: readonly ProviderText[] = [
  { provider: 'Infura', error: says(-32602, ({ count, limit }) => `range ${count} exceeds limit of ${limit}`) },
  {
    provider: 'Tenderly',
    error: says(
      -32602,
      () => 'invalid params',
      ({ count, limit }) => ({ error_id: ID, payload: `range ${count} is bigger than range limit ${limit}` }),
    ),
  },
  {
    provider: 'QuickNode',
    status: 413,
    error: says(-32614, ({ limit }) => `eth_getLogs is limited to a ${withCommas(limit)} range`),
  },
  {
    provider: 'QuickNode, older',
    status: 413,
    error: says(
      -32602,
      ({ limit }) => `eth_getLogs and eth_newFilter are limited to a ${withCommas(limit)} blocks range`,
    ),
  },
  {
    provider: 'Alchemy',
    status: 400,
    error: says(
      -32600,
      (much) =>
        `Under the Free tier plan, you can make eth_getLogs requests with up to a ${much.limit} block range. ` +
        `Based on your parameters, this block range should work: ${suggestion(much)}. Upgrade to PAYG for more.`,
    ),
  },
  {
    provider: 'dRPC',
    status: 400,
    error: says(35, ({ limit }) => `eth_getLogs ranges over ${limit} blocks are not supported on freetier`),
  },
  {
    provider: 'thirdweb',
    error: says(-32602, ({ limit }) => `Maximum allowed number of requested blocks is ${limit}`),
  },
  {
    provider: 'Coinbase',
    error: says(-32602, ({ limit }) => `please limit the query to at most ${withCommas(limit)} blocks`),
  },
  { provider: 'Ankr', error: says(-32602, ({ limit }) => `maximum [from, to] blocks distance: ${limit}`) },
  { provider: 'Ankr, older', error: says(-32062, () => 'Block range is too large') },
  {
    provider: 'Blast',
    error: says(-32005, ({ count, limit }) => `exceeds the range allowed for your plan (${count} > ${limit})`),
  },
  { provider: 'BlockPI', error: says(-32000, ({ limit }) => `eth_getLogs is limited to ${limit} block range`) },
  {
    provider: 'Cloudflare',
    error: says(
      -32047,
      ({ limit }) => `Invalid eth_getLogs request. 'fromBlock'-'toBlock' range too large. Max range: ${limit}`,
    ),
  },
  {
    provider: 'Chainstack',
    error: says(
      -32000,
      () => 'Block range limit exceeded. See more details at https://docs.chainstack.com/docs/limits',
    ),
  },
  { provider: 'PublicNode', error: says(-32000, ({ limit }) => `exceed maximum block range: ${limit}`) },
  { provider: 'Optimism', error: says(-32614, ({ limit }) => `block range greater than ${limit} max`) },
  { provider: 'Base', error: says(-32011, () => 'block range too large') },
  { provider: 'reth', error: says(-32602, ({ limit }) => `query exceeds max block range ${limit}`) },
  {
    provider: 'Erigon',
    error: says(-32602, ({ limit }) => `query block range exceeds server limit, narrow your filter: ${limit}`),
  },
  { provider: 'Erigon, of Polygon', error: says(-32005, ({ limit }) => `block range too large, max range: ${limit}`) },
  { provider: 'Besu', error: says(-32005, () => 'Requested range exceeds maximum RPC range limit') },
  {
    provider: 'Avalanche',
    error: says(
      -32000,
      ({ from, to, limit }) => `requested too many blocks from ${from} to ${to}, maximum is set to ${limit}`,
    ),
  },
  {
    provider: 'Morph',
    error: says(
      -32000,
      ({ count, limit }) =>
        `block range is larger than max block range, block range = ${count}, max block range = ${limit}`,
    ),
  },
  { provider: 'Scroll', error: says(-32000, () => 'block range is bigger than maxBlockRange') },
  { provider: 'Moonbeam', error: says(-32603, ({ limit }) => `block range is too wide (maximum ${limit})`) },
  { provider: 'Harmony', error: says(-32000, ({ limit }) => `query must be smaller than size ${limit}`) },
  { provider: 'Candle', error: says(-32600, () => 'block range too high') },
  { provider: 'one that says nothing', error: says(-32603, () => 'Internal error') },
  { provider: 'one that says it in other words', error: says(-32000, () => 'this is a lot to ask') },
  { provider: 'one that speaks of results', error: says(-32000, () => 'too many results') },
  { provider: 'one that answers with a text', error: () => 'eth_getLogs: range is not allowed' },
  { provider: 'a gateway, in JSON', status: 400, body: () => '{"message":"block range too wide"}' },
  { provider: 'a gateway, in HTML', status: 413, body: () => '<html>Request Entity Too Large: block range</html>' },
]

/** Refusals of too many logs. */
export const contentTexts: readonly ProviderText[] = [
  {
    provider: 'Infura',
    error: says(
      -32005,
      (much) => `query returned more than ${much.limit} results. Try with this block range ${suggestion(much)}.`,
      ({ from, limit }) => ({ from: hex(from), to: hex(from + limit), limit }),
    ),
  },
  { provider: 'Infura, older', error: says(-32005, ({ limit }) => `query returned more than ${limit} results`) },
  {
    provider: 'Alchemy',
    error: says(
      -32602,
      ({ from, to }) =>
        'Log response size exceeded. You can make eth_getLogs requests with up to a 2K block range and no limit on the ' +
        'response size, or you can request any block range with a cap of 10K logs in the response. Based on your ' +
        `parameters and the response size limit, this block range should work: [${hex(from)}, ${hex(from + Math.floor((to - from) / 3))}]`,
    ),
  },
  { provider: 'Arbitrum', error: says(-32000, ({ limit }) => `logs matched by query exceeds limit of ${limit}`) },
  {
    provider: 'reth, which suggests what was asked',
    error: says(
      -32602,
      ({ from, to, limit }) => `query exceeds max results ${limit}, retry with the range ${from}-${to}`,
    ),
  },
  {
    provider: 'Nethermind',
    error: says(-32005, ({ limit }) => `Too many logs requested. Max logs per response is ${limit}.`),
  },
  { provider: 'Optimism', status: 413, error: says(-32020, () => 'backend response too large') },
  { provider: '1RPC', error: says(-32000, () => 'response size should not greater than 10000000 bytes') },
  { provider: 'geth', error: says(-32002, () => 'request timed out') },
  { provider: 'Ankr', error: says(-32000, () => 'query timeout exceeded') },
  { provider: 'one that says nothing', error: says(-32603, () => 'Internal error') },
  { provider: 'a gateway', status: 413, body: () => '<html>Request Entity Too Large</html>' },
]

/** Errors of nodes that asking for less does not help against, and what a caller is told. */
export const otherTexts: readonly (readonly [code: number, message: string, told: string])[] = [
  [-32005, "You've exceeded the RPS limit available on the current plan", 'UPSTREAM_UNAVAILABLE'],
  [-32005, 'project ID request rate exceeded', 'UPSTREAM_UNAVAILABLE'],
  [-32005, 'daily request count exceeded, request rate limited', 'UPSTREAM_UNAVAILABLE'],
  [429, 'Your app has exceeded its compute units per second capacity.', 'UPSTREAM_UNAVAILABLE'],
  [-32029, 'Too Many Requests', 'UPSTREAM_UNAVAILABLE'],
  [-32011, 'no backend is currently healthy to serve traffic', 'UPSTREAM_UNAVAILABLE'],
  [-32603, 'Service temporarily unavailable, try again later', 'UPSTREAM_UNAVAILABLE'],
  [-32000, 'unknown block', 'UPSTREAM_UNAVAILABLE'],
  [-32000, 'header not found', 'UPSTREAM_UNAVAILABLE'],
  [-32001, 'block not found: 0x10', 'UPSTREAM_UNAVAILABLE'],
  [-32602, 'block range extends beyond current head block', 'UPSTREAM_UNAVAILABLE'],
  [-32000, 'cannot query unfinalized data: requested to block 9 after last accepted block 8', 'UPSTREAM_UNAVAILABLE'],
  [4444, 'pruned history unavailable', 'RPC_SERVER_ERROR'],
  [-32000, 'missing trie node 1a3bddc494098bac (path ) state 0x12 is not available, not found', 'RPC_SERVER_ERROR'],
  [-32601, 'the method eth_getLogs does not exist/is not available', 'RPC_SERVER_ERROR'],
  [-32000, 'eth_getLogs is disabled on this endpoint', 'RPC_SERVER_ERROR'],
  [-32000, 'Unauthorized: you must authenticate your request with an API key', 'RPC_SERVER_ERROR'],
]
