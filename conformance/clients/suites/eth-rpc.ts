import { Untestable } from '../../lib/outcome.ts'
import { isAddress, isObject, pathOf, requiredParameters, type RpcCall, rpcCalls, rpcRequests } from '../requests.ts'
import { clientClause, type ClientContext, judgeEach, show, type Wrong } from '../recording.ts'

const kind = 'request in JSON-RPC'

const isInteger = (value: unknown): value is number | bigint => typeof value === 'bigint' || Number.isInteger(value)

const documentedTags = ['latest', 'earliest', 'pending']
/** What the standard of nodes has beside them. The document lets clients send requests of the standard unchanged. */
const laterTags = ['safe', 'finalized']

const judgeCalls = (t: ClientContext, wrongOf: (call: RpcCall) => Wrong | undefined): void =>
  judgeEach(t, kind, rpcCalls(t.recording), wrongOf)

const callsOf = ({ recording }: ClientContext, isMeant: (method: string) => boolean): RpcCall[] =>
  rpcCalls(recording).filter(
    ({ method }) => method !== undefined && Object.hasOwn(requiredParameters, method) && isMeant(method),
  )

/** The standard of JSON-RPC allows that params are left out; nodes also take null. */
const areLeftOut = ({ envelope: { params } }: RpcCall): boolean => params === undefined || params === null

function judgeParameter(
  t: ClientContext,
  {
    methods,
    index,
    isRight,
    expected,
  }: {
    methods: readonly string[]
    index: number
    isRight: (value: unknown) => boolean
    expected: string
  },
): void {
  const calls = callsOf(t, (method) => methods.includes(method)).filter(({ params }) => params[index] !== undefined)
  judgeEach(t, `call of ${methods.join(' or ')} with this parameter`, calls, ({ params, method }) =>
    isRight(params[index])
      ? undefined
      : { message: `parameter ${index + 1} of ${method} is of another form`, expected, actual: show(params[index]) },
  )
}

const isBlock = (value: unknown): boolean =>
  isObject(value) ||
  (isInteger(value) && value >= 0) ||
  (typeof value === 'string' && ([...documentedTags, ...laterTags].includes(value) || /^0x[0-9a-fA-F]+$/.test(value)))

interface PageRequest extends RpcCall {
  readonly keys: Readonly<Record<string, unknown>>
}

/** Requests for the next page: somewhere in their parameters is an object with a key of pages. */
function pageRequests({ recording }: ClientContext): PageRequest[] {
  return rpcCalls(recording)
    .filter(({ method }) => method === 'eth_getLogs')
    .flatMap((call) => {
      const objects = call.params.filter(isObject)
      const keys = [...objects, ...objects.flatMap((object) => Object.values(object).filter(isObject))].find(
        (object) => 'logIndex' in object || 'blockNumber' in object,
      )
      return keys ? [{ ...call, keys }] : []
    })
}

/** The last entries of all pages that the client had been sent when this request came. */
function lastEntries({ recording }: ClientContext, { recorded }: RpcCall): Readonly<Record<string, unknown>>[] {
  return rpcCalls(recording)
    .filter((call) => call.method === 'eth_getLogs' && call.recorded.answeredMs <= recorded.arrivedMs)
    .flatMap(({ result }) => (Array.isArray(result) ? [(result as unknown[]).at(-1)].filter(isObject) : []))
}

const isHexString = (value: unknown): value is string =>
  typeof value === 'string' && /^(?:0x)?[0-9a-fA-F]+$/.test(value)
const sameHex = (a: unknown, b: unknown): boolean =>
  isHexString(a) && isHexString(b) && BigInt(`0x${a.replace(/^0x/, '')}`) === BigInt(`0x${b.replace(/^0x/, '')}`)

function judgePageKeys(t: ClientContext): void {
  const whole = pageRequests(t).filter(
    ({ keys }) => keys['logIndex'] !== undefined && keys['blockNumber'] !== undefined,
  )
  judgeEach(t, 'request for the next page with both keys', whole, (call) => {
    const { logIndex, blockNumber } = call.keys
    const actual = `logIndex ${show(logIndex)}, blockNumber ${show(blockNumber)}`
    if (!isHexString(logIndex) || !isHexString(blockNumber)) {
      return { message: 'a key of the page is no hex string', expected: 'hex strings', actual }
    }
    const entries = lastEntries(t, call)
    // A client may have kept the keys of a page from before this run.
    if (entries.length === 0) return undefined
    if (entries.some((entry) => sameHex(entry['logIndex'], logIndex) && sameHex(entry['blockNumber'], blockNumber)))
      return undefined
    const last = entries.at(-1) ?? {}
    return {
      message: 'the keys of the page are those of no last entry that the client was sent',
      expected: `as in the last entry: logIndex ${show(last['logIndex'])}, blockNumber ${show(last['blockNumber'])}`,
      actual,
    }
  })
}

/** What the client sends that the standard of nodes has, and the document does not name. */
function formsOf(call: RpcCall): string[] {
  const { envelope, isBatched, params } = call
  const tag = params.find((each) => typeof each === 'string' && laterTags.includes(each))
  return [
    ...(typeof envelope['id'] === 'string' ? ['ids that are strings'] : []),
    ...(areLeftOut(call) ? ['params left out'] : []),
    ...(isBatched ? ['batches'] : []),
    ...(typeof tag === 'string' ? [`the tag ${tag}`] : []),
    ...(call.method === 'eth_getBalance' && isObject(params[1]) ? ['a block as an object (EIP-1898)'] : []),
  ]
}

/** What POST /api/eth-rpc is sent. */
export default [
  clientClause('client.eth-rpc.endpoint', 'each request goes to POST /api/eth-rpc', (t) =>
    judgeEach(t, kind, rpcRequests(t.recording), ({ recorded, recorded: { request } }) => {
      const isThere = request.method === 'POST' && pathOf(recorded) === '/api/eth-rpc'
      if (isThere && (isObject(request.json) || Array.isArray(request.json))) return undefined
      return {
        message: isThere ? 'the body is no JSON object' : 'the request is sent to another place',
        expected: 'POST /api/eth-rpc with the envelope',
        actual: isThere ? request.text.slice(0, 200) : `${request.method} ${request.path}`,
      }
    }),
  ),

  clientClause('client.eth-rpc.version', 'each jsonrpc is "2.0"', (t) =>
    judgeCalls(t, ({ envelope: { jsonrpc } }) =>
      jsonrpc === '2.0' ? undefined : { message: 'jsonrpc is not "2.0"', expected: '"2.0"', actual: show(jsonrpc) },
    ),
  ),

  clientClause('client.eth-rpc.id', 'each envelope has an integer id', (t) =>
    judgeCalls(t, ({ envelope: { id } }) =>
      isInteger(id) || typeof id === 'string'
        ? undefined
        : { message: 'id is no integer', expected: 'an integer', actual: show(id) },
    ),
  ),

  clientClause('client.eth-rpc.method', 'each method is a string', (t) =>
    judgeCalls(t, ({ method, envelope }) =>
      method === undefined
        ? { message: 'method is no string', expected: 'the name of a method', actual: show(envelope['method']) }
        : undefined,
    ),
  ),

  clientClause('client.eth-rpc.params-positional', 'all params are arrays', (t) => {
    const calls = rpcCalls(t.recording).filter((call) => !areLeftOut(call))
    judgeEach(t, `${kind} with params`, calls, ({ envelope: { params } }) =>
      Array.isArray(params) ? undefined : { message: 'params is no array', expected: 'an array', actual: show(params) },
    )
  }),

  clientClause('client.eth-rpc.params-empty', 'params are empty where a method takes none', (t) => {
    const calls = callsOf(t, (method) => requiredParameters[method] === 0).filter((call) => !areLeftOut(call))
    judgeEach(t, 'call with params of a method that takes none', calls, ({ params, method }) =>
      params.length === 0
        ? undefined
        : { message: `${method} takes no parameters`, expected: '[]', actual: show(params) },
    )
  }),

  clientClause('client.eth-rpc.params-required', 'all required parameters are there', (t) => {
    const calls = callsOf(t, (method) => (requiredParameters[method] ?? 0) > 0).filter(
      (call) => areLeftOut(call) || Array.isArray(call.envelope['params']),
    )
    judgeEach(t, 'call of a method that takes parameters', calls, ({ params, method = '' }) => {
      const count = requiredParameters[method] ?? 0
      const isFilter = method !== 'eth_getLogs' || isObject(params[0])
      if (params.length >= count && isFilter) return undefined
      const expected = method === 'eth_getLogs' ? 'a filter object' : `${count}, in their order`
      return { message: `parameters of ${method} are missing`, expected, actual: show(params) }
    })
  }),

  clientClause('client.eth-rpc.address', 'each address has 20 bytes', (t) =>
    judgeParameter(t, { methods: ['eth_getBalance'], index: 0, isRight: isAddress, expected: '20 bytes in hex' }),
  ),

  clientClause('client.eth-rpc.hash', 'each hash has 32 bytes', (t) =>
    judgeParameter(t, {
      methods: ['eth_getTransactionByHash', 'eth_getTransactionReceipt'],
      index: 0,
      isRight: (value) => typeof value === 'string' && /^(?:0x)?[0-9a-fA-F]{64}$/.test(value),
      expected: '32 bytes in hex',
    }),
  ),

  clientClause('client.eth-rpc.block', 'each block is a number or a tag', (t) =>
    judgeParameter(t, {
      methods: ['eth_getBalance'],
      index: 1,
      isRight: isBlock,
      expected: 'a number, a quantity in hex, "latest", "earliest" or "pending"',
    }),
  ),

  clientClause('client.eth-rpc.page-keys', 'each request for the next page has both keys', (t) =>
    judgeEach(t, 'request for the next page', pageRequests(t), ({ keys }) => {
      const missing = ['logIndex', 'blockNumber'].filter((name) => keys[name] === undefined)
      if (missing.length === 0) return undefined
      return {
        message: `a key of the page is missing: ${missing.join(', ')}`,
        expected: 'logIndex and blockNumber',
        actual: show(keys),
      }
    }),
  ),

  clientClause('client.eth-rpc.page-keys-verbatim', 'the keys are those of the last entry', judgePageKeys),

  clientClause('client.eth-rpc.forms', 'forms of the standard that the document does not name', (t) => {
    const calls = rpcCalls(t.recording)
    if (calls.length === 0) throw new Untestable(`not seen: the client sent no ${kind}`)
    t.observe([...new Set(calls.flatMap(formsOf))].join(', ') || 'none')
  }),

  clientClause('client.eth-rpc.methods', 'methods that are not listed', (t) => {
    const calls = rpcCalls(t.recording)
    if (calls.length === 0) throw new Untestable(`not seen: the client sent no ${kind}`)
    const others = calls.flatMap(({ method }) =>
      method === undefined || Object.hasOwn(requiredParameters, method) ? [] : [method],
    )
    t.observe([...new Set(others)].join(', ') || 'none')
  }),
]
