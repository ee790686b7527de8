import type { Services } from '../../core/define.ts'
import { discoverFolder } from '../../core/discover.ts'
import { createRegistry, servicesFor } from '../../core/registry.ts'
import type { RpcMethod } from '../../http/json-rpc-call.ts'
import type { JsonRpcLimits } from '../../http/json-rpc.ts'
import { createChain, type CreateChainOptions } from '../../services/chain/create-chain.ts'
import { createUpstream } from '../../services/chain/create-upstream.ts'
import type { Upstream } from '../../services/chain/upstream.ts'
import { startRpcServer, type RpcServer } from './rpc-server.ts'

export interface FrontOptions extends Partial<Omit<CreateChainOptions, 'upstream'>> {
  readonly limits?: Partial<JsonRpcLimits>
}

/** Upstream calls that were made, by method. */
export interface RpcFront extends RpcServer {
  readonly upstreamCalls: { readonly method: string; readonly params: readonly unknown[] }[]
  /** How often the node was asked this since the last `forget`. */
  asked(method: string): number
  forget(): void
}

/** `POST /api/eth-rpc` with its eight methods, in front of these nodes. */
export async function startRpcFront(
  rpcUrls: readonly string[],
  { limits, confirmations = 12, ...options }: FrontOptions = {},
): Promise<RpcFront> {
  const upstream = createUpstream({ rpcUrls })
  const upstreamCalls: RpcFront['upstreamCalls'] = []
  const counting: Upstream = {
    request: (method, params, requestOptions) => {
      upstreamCalls.push({ method, params })
      return upstream.request(method, params, requestOptions)
    },
    close: () => upstream.close(),
  }
  const chain = createChain({ upstream: counting, confirmations, ...options })
  const server = await startRpcServer(await rpcMethods({ chain } as Services), limits)
  return {
    ...server,
    upstreamCalls,
    asked: (method) => upstreamCalls.filter((call) => call.method === method).length,
    forget: () => upstreamCalls.splice(0),
    close: async () => {
      await server.close()
      await upstream.close()
    },
  }
}

async function rpcMethods(services: Services): Promise<[string, RpcMethod][]> {
  const discovered = await discoverFolder(new URL('../../plugins/', import.meta.url).pathname)
  const registry = createRegistry(discovered.filter(({ expectedKind }) => expectedKind === 'rpc-method'))
  return [...registry.rpcMethods].map(([name, loaded]) => {
    const { plugin, options, validateParams, validateResult } = loaded
    const picked = servicesFor(loaded, services)
    return [name, { validateParams, validateResult, handle: (params) => plugin.handle(params, picked, options) }]
  })
}
