import { ServiceError } from '../../core/errors.ts'

/** Asks the node, or the nodes, behind the server by JSON-RPC. It keeps no answers. */
export interface Upstream {
  /**
   * @throws UpstreamRpcError the node answered with a JSON-RPC error
   * @throws ServiceError UPSTREAM_UNAVAILABLE no node answered in time
   */
  request<Result = unknown>(method: string, params: readonly unknown[], options?: UpstreamOptions): Promise<Result>
  /**
   * Hands the transactions of one account to one node, in this order. When that node is slow or fails, another one gets the
   * same bytes in the same order. A call without an answer says nothing of whether a node has the transaction: ask for it.
   *
   * @returns an outcome for each, as soon as it is known; rejections are those of `request`
   */
  requestTogether?(
    calls: readonly UpstreamCall[],
    options?: Pick<UpstreamOptions, 'traceparent'>,
  ): readonly Promise<PromiseSettledResult<unknown>>[]
  close(): Promise<void>
}

export interface UpstreamCall {
  readonly method: string
  readonly params: readonly unknown[]
}

export interface UpstreamOptions {
  readonly signal?: AbortSignal
  readonly timeoutMs?: number
  /**
   * For answers that decide about money: where there is a second node, it must say the same. Of two nonces or two heads the
   * lower one counts. While the nodes contradict each other, the request throws UPSTREAM_UNAVAILABLE.
   */
  readonly confirm?: boolean
  /**
   * Called with the name of the node whose answer or error the promise is about to settle with, since each node has limits
   * of its own. It is not called when there is one node only, or when none has answered.
   */
  readonly onNode?: (name: string) => void
  /** W3C Trace Context, sent with the call. Calls that share an HTTP request send that of the first one. */
  readonly traceparent?: string
}

/** The node's own JSON-RPC error, as it came. */
export class UpstreamRpcError extends Error {
  readonly code: number
  /** For a reverted call: usually the revert data, whose place differs between nodes. */
  readonly data: unknown

  constructor(error: { code: number; message: string; data?: unknown }) {
    super(error.message)
    this.name = 'UpstreamRpcError'
    this.code = error.code
    this.data = error.data
  }
}

declare module '../../core/define.ts' {
  interface Services {
    upstream: Upstream
  }
}

/** Callers who are to come back later are told to wait this long. */
export const RETRY_SECONDS = 1

/** The same upstream, which throws the errors of the server's catalogue in place of the nodes' own. */
export function translateErrors(upstream: Upstream): Upstream {
  return {
    request: async (method, params, options) => {
      try {
        return await upstream.request(method, params, options)
      } catch (error) {
        throw translateError(error)
      }
    },
    close: () => upstream.close(),
  }
}

/**
 * Translates the node's own error: to UPSTREAM_UNAVAILABLE when the node is busy or behind, so that the same call may be
 * served soon; to RPC_SERVER_ERROR otherwise. Other errors are returned as they are.
 */
export function translateError(error: unknown): unknown {
  if (!(error instanceof UpstreamRpcError)) return error
  const kind = rpcErrorKind(error)
  const isPassing = kind === 'busy' || kind === 'unknown-block'
  const reason = `the node refuses: ${error.message.slice(0, 200)}`
  return new ServiceError(isPassing ? 'UPSTREAM_UNAVAILABLE' : 'RPC_SERVER_ERROR', reason, {
    details: { nodeCode: error.code },
    cause: error,
    ...(isPassing && { retryAfterSeconds: RETRY_SECONDS }),
  })
}

/**
 * Why a node refuses a call that is not at fault itself. `busy`: the caller asks too often, or the gateway has no node to
 * ask. `unknown-block`: the node does not have the block, or not yet. `pruned`: the node no longer has the block's state or
 * logs. `unserved`: the node does not serve this method, or not to this caller.
 */
type RpcErrorKind = 'busy' | 'unknown-block' | 'pruned' | 'unserved'

const UNSERVED_CODES = new Set([-32601, -32004, -32700])
/** EIP-4444: the history is pruned. */
const PRUNED_CODE = 4444

const BUSY_FOR_SURE = /\brps\b|\brate.?limit|too many requests|(?:requests|units|credits) per second|\b429\b/i
const BUSY =
  /\brps\b|rate.?limit|request (?:rate|count|limit)|(?:requests?|calls?|units?|credits?) per |per second|too many (?:requests|connections)|throughput|compute units|capacity|credits|throttl|quota|no (?:available|healthy)|currently healthy|try again later|overloaded|temporar|server (?:is )?busy|\b429\b/i
const UNKNOWN_BLOCK =
  /(?:unknown|missing) (?:block|header)|(?:block|header)[^.]{0,40}(?:not found|not available|does ?n[o']t exist|not yet)|could not find block|beyond (?:the )?(?:current |latest )?(?:head|block)|(?:past|after) (?:the )?(?:current |latest )?head|after last accepted|(?:in|into) the future|not (?:fully )?synced|still syncing/i
const PRUNED =
  /prun|missing trie node|histor(?:y|ical) (?:state|data|block)?s?\b.{0,20}(?:unavailable|not available|not supported|missing)|state (?:0x[0-9a-f]+ )?(?:is )?(?:unavailable|not available|missing)|state .{0,40}(?:unavailable|not available)|no state|archive|MissingTrieNode|proof window/i
const UNSERVED =
  /unauthori[sz]ed|authenticat|api.?key|forbidden|(?:method|eth_\w+)\b.{0,40}(?:not found|not supported|not available|does not exist|disabled|not allowed|not whitelisted|unsupported)/i

/**
 * Reads the kind from the text, since nodes use different codes.
 *
 * @returns undefined: the error is about the call itself
 */
export function rpcErrorKind({ code, message, data }: UpstreamRpcError): RpcErrorKind | undefined {
  const text = `${message.slice(0, 1_000)} ${typeof data === 'string' ? data.slice(0, 1_000) : ''}`
  // Plans have limits of blocks, too: "Block range limit exceeded. Upgrade for a higher quota."
  const isAboutRange = /\brange|\bblocks\b/i.test(text)
  if ((isAboutRange ? BUSY_FOR_SURE : BUSY).test(text)) return 'busy'
  if (UNKNOWN_BLOCK.test(text)) return 'unknown-block'
  if (code === PRUNED_CODE || PRUNED.test(text)) return 'pruned'
  return UNSERVED_CODES.has(code) || (!isAboutRange && UNSERVED.test(text)) ? 'unserved' : undefined
}

/**
 * Refuses calls when too many are under way or waiting. When a node has become slow, a caller is told at once to come back
 * later, and does not wait for minutes in a queue that only grows. Transactions that are stored are sent in any case
 * (`requestTogether`, `eth_sendRawTransaction`).
 *
 * @returns an upstream whose `request` also throws ServiceError UPSTREAM_UNAVAILABLE, with the time to wait
 */
export function budgetUpstream(upstream: Upstream, maxCalls: number): Upstream {
  let underWay = 0
  return {
    ...upstream,
    request: async <Result>(...[method, params, options]: Parameters<Upstream['request']>) => {
      if (underWay >= maxCalls && method !== 'eth_sendRawTransaction') {
        throw new ServiceError('UPSTREAM_UNAVAILABLE', `${maxCalls} calls to the node wait already`, {
          retryAfterSeconds: RETRY_SECONDS,
        })
      }
      underWay++
      try {
        return await upstream.request<Result>(method, params, options)
      } finally {
        underWay--
      }
    },
  }
}

/** What development nodes call themselves in `web3_clientVersion`. */
const DEVELOPMENT = /^(?:HardhatNetwork|anvil|Ganache|EthereumJS TestRPC)\b/i

/**
 * Whether the node is a development node. Such a node can do what others cannot: take blocks back (`evm_revert`), and
 * change state and fees without a new block (`hardhat_setBalance`).
 */
export class NodeKind {
  readonly #upstream: Upstream
  #development: boolean | undefined
  #asked: Promise<boolean> | undefined

  constructor(upstream: Upstream) {
    this.#upstream = upstream
  }

  /** Whether blocks may be taken back at any time; true until it is known. */
  get mayRewind(): boolean {
    if (this.#development === undefined) this.isDevelopment().catch(() => undefined)
    return this.#development ?? true
  }

  /** Asks the node once. @throws ServiceError UPSTREAM_UNAVAILABLE */
  async isDevelopment(): Promise<boolean> {
    return this.#development ?? (this.#asked ??= this.#ask().finally(() => (this.#asked = undefined)))
  }

  async #ask(): Promise<boolean> {
    let version: unknown
    try {
      version = await this.#upstream.request('web3_clientVersion', [])
    } catch (error) {
      // Every development node answers this method, so a node that refuses it is none.
      if (!(error instanceof UpstreamRpcError)) throw error
    }
    this.#development = typeof version === 'string' && DEVELOPMENT.test(version)
    return this.#development
  }
}
