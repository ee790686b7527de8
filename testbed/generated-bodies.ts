/** Gives numbers in [0, 1), always the same ones for a seed. */
export type Random = () => number

/** The generator mulberry32, which is small and fast, and good enough to choose test data. */
export function createRandom(seed: number): Random {
  let state = seed >>> 0
  return () => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}

const ADDRESS = '0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266'
const HASH = `0x${'ab'.repeat(32)}`

/** Parameters that clients send, by method. */
const validParams: Readonly<Record<string, readonly unknown[]>> = {
  eth_blockNumber: [],
  eth_chainId: [],
  eth_gasPrice: [],
  eth_maxPriorityFeePerGas: [],
  eth_getBalance: [ADDRESS, 'latest'],
  eth_getTransactionByHash: [HASH],
  eth_getTransactionReceipt: [HASH],
  eth_getLogs: [
    {
      fromBlock: '0x0',
      toBlock: 'latest',
      address: [ADDRESS],
      topics: [null, [HASH]],
      paging_options: { blockNumber: '0x1', logIndex: '0x0' },
    },
  ],
}

/** Values that programs often mishandle. */
const oddValues: readonly unknown[] = [
  null,
  true,
  0,
  -1,
  1.5,
  1e21,
  Number.MAX_SAFE_INTEGER,
  '',
  '0x',
  '0x0',
  '0x01',
  '0xffffffffffffffffffffffff',
  'latest',
  'pending',
  'earliest',
  '__proto__',
  'constructor',
  '\u0000',
  '\ud800',
  '💥',
  'a'.repeat(5000),
  [],
  {},
  [[]],
  { length: 1 },
  HASH,
  ADDRESS,
  { __proto__: null, toString: 1, valueOf: {} },
]

/** Texts that are no JSON, or JSON that is hard to parse. */
const oddTexts: readonly string[] = [
  '',
  ' ',
  'null',
  '[]',
  '{}',
  '[[]]',
  '{"id":1e999}',
  '{"__proto__":{"id":1}}',
  `${'['.repeat(5000)}`,
  `${'{"a":'.repeat(40)}1${'}'.repeat(40)}`,
  '\ufeff{}',
  '{"jsonrpc":"2.0","id":123456789012345678901234567890,"method":"eth_chainId"}',
  '{"jsonrpc":"2.0","id":1.50,"method":"eth_chainId","params":null}',
  '{"jsonrpc":"2.0","jsonrpc":"1.0","id":1,"id":2,"method":"eth_chainId"}',
]

/** Makes a valid request. */
export type RequestSource = (random: Random) => Record<string, unknown>

/**
 * Bodies to try a server with: valid ones, mutated ones, random JSON and random bytes.
 *
 * @param request what the valid ones are; absent: requests of `POST /api/eth-rpc`
 */
export function* generateBodies(
  count: number,
  random: Random,
  request: RequestSource = rpcRequest,
): Generator<Buffer<ArrayBuffer>> {
  const kinds = [validRequest, mutatedRequest, mutatedRequest, mutatedText, mutatedText, batch, randomJson, oddText]
  for (let index = 0; index < count; index++) {
    if (random() < 0.1) yield randomBytes(random)
    else yield Buffer.from(pick(kinds, random)(random, request))
  }
}

const pick = <T>(list: readonly T[], random: Random): T => list[Math.floor(random() * list.length)] as T

const validRequest = (random: Random, request: RequestSource) => JSON.stringify(request(random))
const oddText = (random: Random) => pick(oddTexts, random)
const randomJson = (random: Random) => JSON.stringify(value(random, 5))

function rpcRequest(random: Random): Record<string, unknown> {
  const method = pick(Object.keys(validParams), random)
  const id = pick<unknown>([1, 'a', 0, null, 2 ** 40], random)
  return { jsonrpc: '2.0', id, method, params: structuredClone(validParams[method]) }
}

/** A valid request with other values in one to three places. */
function mutatedRequest(random: Random, request: RequestSource): string {
  const mutated: unknown = request(random)
  for (let times = 1 + Math.floor(random() * 3); times > 0; times--) mutate(mutated, random)
  return JSON.stringify(mutated)
}

function mutate(target: unknown, random: Random): void {
  if (typeof target !== 'object' || target === null) return
  const keys = Object.keys(target)
  const key = pick(keys.length > 0 ? keys : ['0'], random)
  const record = target as Record<string, unknown>
  const roll = random()
  if (roll < 0.4 && typeof record[key] === 'object') mutate(record[key], random)
  // A copy, because the next mutation may change it.
  else if (roll < 0.8) record[key] = structuredClone(pick(oddValues, random))
  else if (roll < 0.9) Reflect.deleteProperty(record, key)
  else record[`${key}${Math.floor(random() * 10)}`] = value(random, 2)
}

/** The text of a valid request with some characters changed, cut or doubled. */
function mutatedText(random: Random, request: RequestSource): string {
  let text = validRequest(random, request)
  for (let times = 1 + Math.floor(random() * 4); times > 0; times--) {
    const at = Math.floor(random() * text.length)
    const length = Math.floor(random() * 8)
    const inserted = pick(
      ['', '"', '{', ']', '\\', ',', '0', 'e9', '.', '\n', '\u0000', text.slice(at, at + 20)],
      random,
    )
    text = text.slice(0, at) + inserted + text.slice(at + length)
  }
  return text
}

function batch(random: Random, request: RequestSource): string {
  const length = Math.floor(random() * (random() < 0.1 ? 150 : 6))
  const elements = Array.from({ length }, () =>
    random() < 0.5
      ? validRequest(random, request)
      : random() < 0.5
        ? mutatedRequest(random, request)
        : randomJson(random),
  )
  return `[${elements.join(',')}]`
}

function value(random: Random, depth: number): unknown {
  const roll = random()
  if (depth === 0 || roll < 0.4) return structuredClone(pick(oddValues, random))
  const length = Math.floor(random() * 5)
  if (roll < 0.7) return Array.from({ length }, () => value(random, depth - 1))
  const keys = ['jsonrpc', 'id', 'method', 'params', 'address', 'topics', '__proto__', 'x']
  return Object.fromEntries(Array.from({ length }, () => [pick(keys, random), value(random, depth - 1)]))
}

function randomBytes(random: Random): Buffer<ArrayBuffer> {
  return Buffer.from(Array.from({ length: Math.floor(random() * 200) }, () => Math.floor(random() * 256)))
}
