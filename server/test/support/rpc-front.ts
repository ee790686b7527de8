import type { Services } from '../../core/define.ts'
import { discoverFolder, createRegistry, servicesFor } from '../../core/registry.ts'
import type { RpcMethod } from '../../http/json-rpc-call.ts'
import type { JsonRpcLimits } from '../../http/json-rpc.ts'
import type { Chain } from '../../services/chain/chain.ts'
import { createChain, type CreateChainOptions } from '../../services/chain/create-chain.ts'
import { createUpstream } from '../../services/node/create-upstream.ts'
import type { Upstream, UpstreamOptions } from '../../services/node/upstream.ts'
import { startRpcServer, type RpcServer } from './rpc-server.ts'

export interface FrontOptions extends Partial<Omit<CreateChainOptions, 'upstream'>> {
  readonly limits?: Partial<JsonRpcLimits>
}

export interface RpcFront extends RpcServer {
  /** Calls of the node since the last `forget`. */
  readonly upstreamCalls: { readonly method: string; readonly params: readonly unknown[] }[]
  /** How often the node was asked this since the last `forget`. */
  asked(method: string): number
  /** Logs that the node sent since the last `forget`. */
  logsFetched(): number
  forget(): void
}

/** `POST /api/eth-rpc` with its eight methods, in front of these nodes. */
export async function startRpcFront(
  rpcUrls: readonly string[],
  { limits, confirmations = 12, ...options }: FrontOptions = {},
): Promise<RpcFront> {
  const upstream = createUpstream({ rpcUrls })
  const upstreamCalls: RpcFront['upstreamCalls'] = []
  let logsFetched = 0
  const counting: Upstream = {
    request: async <Result>(method: string, params: readonly unknown[], requestOptions?: UpstreamOptions) => {
      upstreamCalls.push({ method, params })
      const result = await upstream.request<Result>(method, params, requestOptions)
      if (method === 'eth_getLogs') logsFetched += (result as unknown[]).length
      return result
    },
    close: () => upstream.close(),
  }
  const cached = createChain({ upstream: counting, confirmations, ...options })
  upstream.onReorganised = () => cached.forget()
  const chain: Chain = cached
  const server = await startRpcServer(await rpcMethods({ chain, upstream: counting } as Services), limits)
  return {
    ...server,
    upstreamCalls,
    asked: (method) => upstreamCalls.filter((call) => call.method === method).length,
    logsFetched: () => logsFetched,
    forget: () => {
      upstreamCalls.length = 0
      logsFetched = 0
    },
    close: async () => {
      await server.close()
      await upstream.close()
    },
  }
}

async function rpcMethods(services: Services): Promise<[string, RpcMethod][]> {
  const discovered = await discoverFolder(new URL('../../plugins', import.meta.url).pathname)
  const registry = createRegistry(discovered.filter(({ expectedKind }) => expectedKind === 'rpc-method'))
  return [...registry.rpcMethods].map(([name, loaded]) => {
    const { plugin, options, validateParams, validateResult } = loaded
    const picked = servicesFor(loaded, services)
    const handle = (params: readonly unknown[]) => plugin.handle(params, picked, options)
    return [name, { validateParams, validateResult, handle, explain: plugin.explain }]
  })
}
