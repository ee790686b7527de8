import { ServiceError } from '../../core/errors.ts'
import { UpstreamRpcError, type Upstream } from './upstream.ts'

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

const RETRY_SECONDS = 1

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
 * Reads the kind from the text, since nodes use different codes. @returns undefined: the error is about the call itself
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
