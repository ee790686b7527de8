import { clauses } from '../../specs/index.ts'
import { Bundle } from './bundle.ts'
import { errorResponses, rpcErrorTable } from './openapi-errors.ts'
import { rpcMethods, type RpcMethodSchema } from './rpc-methods.ts'

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
