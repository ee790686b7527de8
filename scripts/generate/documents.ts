import { clauses, errorCatalogue, type ErrorEntry } from '../../specs/index.ts'
import { Bundle, rpcMethods, type RpcMethodSchema } from './schemas.ts'

const json = (schema: object, examples?: Record<string, { value: unknown }>) => ({
  'application/json': { schema, ...(examples && { examples }) },
})

/** openapi.yaml: both documents' endpoints, and the service's own addition, as OpenAPI 3.1. */
export function openapiDocument(version: string): object {
  const bundle = new Bundle()
  const paths = {
    '/execute': {
      post: {
        operationId: 'execute',
        summary: 'Execute a signed relay call',
        description: sentences('relay.execute.'),
        tags: ['relay'],
        requestBody: { required: true, content: json(bundle.ref('relay/execute#/properties/request')) },
        responses: {
          200: { description: 'Accepted.', content: json(bundle.ref('relay/execute#/properties/response')) },
          ...errorResponses(bundle, '/execute'),
        },
      },
    },
    '/quota': {
      post: {
        operationId: 'quota',
        summary: 'Ask for the quota left',
        description: sentences('relay.quota.'),
        tags: ['relay'],
        requestBody: { required: true, content: json(bundle.ref('quota/quota#/properties/request')) },
        responses: {
          200: { description: 'The quota left.', content: json(bundle.ref('quota/quota#/properties/response')) },
          ...errorResponses(bundle, '/quota'),
        },
      },
    },
    '/transactions/{hash}': { get: transactionStatus(bundle) },
    '/api/eth-rpc': { post: ethRpc(bundle) },
  }
  return {
    openapi: '3.1.0',
    info: {
      title: 'Touchstone',
      version,
      summary: 'A transaction relay service of smart-account profiles with an Ethereum-compatible JSON-RPC endpoint.',
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
    },
    servers: [{ url: 'http://127.0.0.1:3000', description: 'The testbed.' }],
    security: [],
    tags: [
      { name: 'relay', description: 'Transaction Relay Service Interface.' },
      { name: 'eth-rpc', description: 'Ethereum-Compatible JSON-RPC Interface.' },
      { name: 'additions', description: 'Beyond the documents: no other relay needs to have these.' },
    ],
    paths,
    components: { schemas: bundle.components() },
  }
}

function transactionStatus(bundle: Bundle): object {
  return {
    operationId: 'transactionStatus',
    summary: 'Ask what became of a relayed call',
    description: 'An addition: no part of the documents. Answers for the hash of any attempt.',
    tags: ['additions'],
    parameters: [
      {
        name: 'hash',
        in: 'path',
        required: true,
        description: 'Hash of any attempt.',
        schema: bundle.ref('common#/$defs/hash32'),
      },
    ],
    responses: {
      200: {
        description: 'What became of it.',
        content: json(bundle.ref('relay/transactions#/properties/response')),
      },
      ...errorResponses(bundle, '/transactions/{hash}'),
    },
  }
}

function ethRpc(bundle: Bundle): object {
  const methods = rpcMethods()
  const requests = methods.map((method) => requestOf(bundle, method))
  const responses = [...methods.map((method) => responseOf(bundle, method)), bundle.ref('json-rpc#/$defs/failure')]
  const request = bundle.add('json-rpc.request', { title: 'RpcRequest', anyOf: requests })
  const response = bundle.add('json-rpc.response', { title: 'RpcResponse', anyOf: responses })
  const examples = methods.map(({ name, description, params }) => [
    name,
    { summary: description, value: { jsonrpc: '2.0', id: 1, method: name, params: params.examples?.[0] ?? [] } },
  ])
  return {
    operationId: 'ethRpc',
    summary: 'Call a JSON-RPC method of an Ethereum node',
    description: `${sentences('eth-rpc.')}\n\nJSON-RPC errors are answered with HTTP 200:\n\n${rpcErrorTable('/api/eth-rpc')}`,
    tags: ['eth-rpc'],
    requestBody: {
      required: true,
      content: json(
        { anyOf: [request, { title: 'RpcBatch', type: 'array', minItems: 1, items: request }] },
        Object.fromEntries(examples) as Record<string, { value: unknown }>,
      ),
    },
    responses: {
      200: {
        description: 'Successful operation, or a JSON-RPC error.',
        content: json({ anyOf: [response, { title: 'RpcBatchResponse', type: 'array', items: response }] }),
      },
      ...errorResponses(bundle, '/api/eth-rpc'),
    },
  }
}

function requestOf(bundle: Bundle, { name, description, params }: RpcMethodSchema): object {
  const takesNone = params.prefixItems === undefined
  return bundle.add(`rpc-method.${name}.request`, {
    title: `${name} request`,
    description,
    type: 'object',
    // Clients leave params out where a method has none.
    required: ['jsonrpc', 'id', 'method', ...(takesNone ? [] : ['params'])],
    properties: {
      jsonrpc: { const: '2.0' },
      id: bundle.ref('json-rpc#/$defs/id'),
      method: { const: name },
      params: bundle.ref(`rpc-method/${name}#/properties/params`),
    },
  })
}

function responseOf(bundle: Bundle, { name }: RpcMethodSchema): object {
  return bundle.add(`rpc-method.${name}.response`, {
    title: `${name} response`,
    type: 'object',
    required: ['jsonrpc', 'id', 'result'],
    properties: {
      jsonrpc: { const: '2.0' },
      id: bundle.ref('json-rpc#/$defs/id'),
      result: bundle.ref(`rpc-method/${name}#/properties/result`),
    },
  })
}

/** What the document says of an endpoint, as a list. */
function sentences(prefix: string): string {
  return Object.entries(clauses)
    .filter(([id, { level }]) => id.startsWith(prefix) && level === 'required')
    .map(([id, { text }]) => `- ${text} (\`${id}\`)`)
    .join('\n')
}

type Row = ErrorEntry & { readonly code: string }

/** The error responses of an endpoint by HTTP status, from the error catalogue. */
function errorResponses(bundle: Bundle, endpoint: string): Record<string, object> {
  const rows = rowsOf(endpoint).filter((row) => row.status !== undefined && !isRpc(row, endpoint))
  const byStatus = Object.groupBy(rows, (row) => String(row.status))
  return Object.fromEntries(
    Object.entries(byStatus).map(([status, group = []]) => [
      status,
      {
        description: group.map(({ code, description }) => `\`${code}\`: ${description}`).join('\n\n'),
        ...headersOf(status),
        content: {
          'application/json': {
            schema: {
              allOf: [
                bundle.ref('error'),
                { type: 'object', properties: { code: { enum: group.map(({ code }) => code) } } },
              ],
            },
          },
        },
      },
    ]),
  )
}

/** The JSON-RPC errors of an endpoint as a Markdown list. */
function rpcErrorTable(endpoint: string): string {
  return rowsOf(endpoint)
    .filter((row) => isRpc(row, endpoint))
    .map(({ rpcCode, code, description }) => `- \`${rpcCode ?? ''}\` (${code}): ${description}`)
    .join('\n')
}

function rowsOf(endpoint: string): Row[] {
  return Object.entries(errorCatalogue)
    .map(([code, entry]) => ({ code, ...entry }))
    .filter(({ endpoints }) => endpoints.includes(endpoint))
}

const isRpc = (row: Row, endpoint: string) => endpoint === '/api/eth-rpc' && row.rpcCode !== undefined

function headersOf(status: string): object {
  const name = { 405: 'Allow', 429: 'Retry-After', 503: 'Retry-After' }[status]
  if (name === undefined) return {}
  const description =
    name === 'Allow' ? 'The methods that the path takes.' : 'Seconds until it makes sense to try again.'
  return { headers: { [name]: { description, schema: { type: name === 'Allow' ? 'string' : 'integer' } } } }
}

/** Errors that a method can answer. The others of the catalogue are about the envelope. */
const methodErrors = ['RPC_INVALID_PARAMS', 'RPC_INTERNAL', 'RPC_SERVER_ERROR', 'RPC_LIMIT_EXCEEDED'] as const

/** openrpc.json: the methods of `POST /api/eth-rpc` as OpenRPC. */
export function openrpcDocument(version: string): object {
  const bundle = new Bundle()
  const methods = rpcMethods().map((method) => methodObject(bundle, method))
  return {
    openrpc: '1.3.2',
    info: {
      title: 'Touchstone: Ethereum-compatible JSON-RPC',
      version,
      description: 'The limited set of requests of an Ethereum node that the service accepts.',
      license: { name: 'Apache-2.0', url: 'https://www.apache.org/licenses/LICENSE-2.0' },
    },
    servers: [{ name: 'testbed', url: 'http://127.0.0.1:3000/api/eth-rpc' }],
    methods,
    components: { schemas: bundle.components() },
  }
}

function methodObject(bundle: Bundle, { name, description, params, result }: RpcMethodSchema): object {
  const items = params.prefixItems ?? []
  return {
    name,
    summary: description,
    paramStructure: 'by-position',
    params: items.map((item, index) => ({
      name: item.title,
      ...(item.description !== undefined && { description: item.description }),
      required: index < (params.minItems ?? 0),
      schema: bundle.inline(`rpc-method/${name}#/properties/params/prefixItems/${index}`),
    })),
    result: {
      name: 'result',
      description: result['description'],
      schema: bundle.ref(`rpc-method/${name}#/properties/result`),
    },
    errors: methodErrors.map((code) => ({
      code: errorCatalogue[code].rpcCode,
      message: errorCatalogue[code].message,
      data: errorCatalogue[code].description,
    })),
  }
}
