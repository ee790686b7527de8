import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { pino, type Logger } from 'pino'
import { Registry } from 'prom-client'
import { createApp } from '../../app.ts'
import { validatorOf } from '../../core/validate.ts'
import { createFastLane } from '../../http/fast-lane.ts'
import type { RpcMethod } from '../../http/json-rpc-call.ts'
import { jsonRpcEndpoint, type JsonRpcLimits } from '../../http/json-rpc.ts'
import { createRequestMeter } from '../../telemetry/metrics.ts'
import type { Services } from '../../core/define.ts'
import { servicesFor } from '../../core/registry.ts'
import type { Chain } from '../../services/chain/chain.ts'
import { createChain, type CreateChainOptions } from '../../services/chain/create-chain.ts'
import { createUpstream } from '../../services/node/create-upstream.ts'
import type { Upstream, UpstreamOptions } from '../../services/node/upstream.ts'
import { ownRegistry } from './own-registry.ts'

/** What fetch takes as a body, as far as tests need it. */
export type Body = string | Uint8Array<ArrayBuffer> | Blob

export interface RpcServer {
  readonly url: string
  /** Posts a body as it stands and reads the answer as JSON; an empty answer is undefined. */
  post(body: Body, headers?: Record<string, string>): Promise<{ status: number; json: unknown; text: string }>
  /** Calls one method and returns its result; a JSON-RPC error is thrown as its object. */
  call<Result>(method: string, ...params: unknown[]): Promise<Result>
  close(): Promise<void>
}

export const silent: Logger = pino({ level: 'silent' })

const validator = validatorOf('first-error')

/** A method of `specs/schemas/rpc-method/`, answered by `handle`. */
export function rpcMethod(name: string, handle: RpcMethod['handle']): [string, RpcMethod] {
  const key = `rpc-method/${name}`
  return [
    name,
    {
      validateParams: validator.compileKey(key, 'params'),
      validateResult: validator.compileKey(key, 'result'),
      handle,
    },
  ]
}

/** A log of 40 kB. Frozen, as the chain gives it. */
export const largeLog = Object.freeze({
  address: `0x${'11'.repeat(20)}`,
  topics: Object.freeze([]),
  data: `0x${'00'.repeat(20_000)}`,
  blockHash: `0x${'22'.repeat(32)}`,
  blockNumber: '0x1',
  transactionHash: `0x${'22'.repeat(32)}`,
  transactionIndex: '0x0',
  logIndex: '0x0',
  removed: false,
})

/** The endpoint alone, in the app that the server runs it in. */
export async function startRpcServer(
  methods: Iterable<[string, RpcMethod]>,
  limits: Partial<JsonRpcLimits> = {},
  log = silent,
): Promise<RpcServer> {
  const answer = jsonRpcEndpoint({ methods: new Map(methods), limits })
  const lane = createFastLane({
    answers: new Map([['/api/eth-rpc', answer]]),
    log,
    meter: createRequestMeter(new Registry()),
  })
  const app = createApp({ routes: lane.routes, log })
  const server = createServer(lane.inFrontOf(app)).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/api/eth-rpc`

  const post: RpcServer['post'] = async (body, headers = { 'content-type': 'application/json' }) => {
    const response = await fetch(url, { method: 'POST', body, headers })
    const text = await response.text()
    return { status: response.status, text, json: text === '' ? undefined : (JSON.parse(text) as unknown) }
  }
  return {
    url,
    post,
    call: async <Result>(method: string, ...params: unknown[]) => {
      const { json } = await post(JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }))
      const { result, error } = json as { result: Result; error?: { code: number; message: string } }
      if (error) throw Object.assign(new Error(error.message), error)
      return result
    },
    close: async () => {
      server.close()
      server.closeAllConnections()
      await once(server, 'close')
    },
  }
}

interface FrontOptions extends Partial<Omit<CreateChainOptions, 'upstream'>> {
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
  const { rpcMethods } = await ownRegistry()
  return [...rpcMethods].map(([name, loaded]) => {
    const { plugin, options, validateParams, validateResult } = loaded
    const picked = servicesFor(loaded, services)
    const handle = (params: readonly unknown[]) => plugin.handle(params, picked, options)
    return [name, { validateParams, validateResult, handle, explain: plugin.explain }]
  })
}
