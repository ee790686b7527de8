import { errorCatalogue } from '../../specs/index.ts'
import { Bundle } from './bundle.ts'
import { rpcMethods, type RpcMethodSchema } from './rpc-methods.ts'

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
