import { connect } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'
import type { ClauseId } from '../../specs/index.ts'
import { type Answer, describeAnswer } from './answer.ts'
import type { HttpClient } from './http.ts'
import { stringify } from './lossless-json.ts'
import { Fault, Untestable } from './outcome.ts'
import { type Patience, rateLimitOf, isLimitError } from './patience.ts'
import type { Exchange } from './report-types.ts'
import { type AdjustableClock, ourTimeMs } from './target-clock.ts'
import { isServed } from './rpc-answer.ts'

/** After so many requests in a row without an answer nothing more is sent there: a silent target ends in bounded time. */
const silentAfter = 3
/** And after so many in all. */
const silentAfterInAll = 20

export interface SendOptions {
  readonly method?: string
  /** Instead of `Content-Type: application/json`. */
  readonly headers?: Readonly<Record<string, string>>
  /** A connection of its own, never repeated: for requests that spend. */
  readonly once?: boolean
  /** Hand over an answer that tells of a rate limit as it is, instead of waiting and asking again. */
  readonly takeRateLimit?: boolean
  /** The clause by which this request must be served: a target that dies of it breaks that clause. */
  readonly owedBy?: ClauseId
}

/** One URL of the target, used by one check. */
export interface Endpoint {
  /**
   * Sends a value as JSON; bigints keep all of their digits. A function is asked for the value before each attempt, for
   * bodies that age while a rate limit is waited for.
   *
   * @throws Untestable when the target is silent or gone; Fault of `owedBy` when it dies of this request
   */
  send(body: unknown, options?: SendOptions): Promise<Answer>
  /** Sends a body as it stands; undefined: none. */
  sendRaw(body: string | Uint8Array | undefined, options?: SendOptions): Promise<Answer>
}

/** What all checks know together of the host of a URL. */
export interface HostState {
  /** The last request that was sent there: verb and path. */
  last?: string
  /** Set when nobody listens there any more: after which request, and the clause that fails by it, if any. */
  death?: { readonly after: string; readonly of?: ClauseId | undefined; isFinal: boolean }
}

/** What all checks know together of a URL. */
export interface EndpointState {
  readonly url: string
  readonly host: HostState
  /** A valid request that is always cheap to serve; absent: there is none. */
  readonly cheapRequest?: string
  silentInARow: number
  /** Requests without an answer in all. */
  silent: number
}

interface EndpointTools {
  readonly http: HttpClient
  readonly clock: AdjustableClock
  readonly patience: Patience
}

function nameOf({ request }: Exchange): string {
  return `${request.method} ${new URL(request.url).pathname}`
}

type Body = string | Uint8Array | undefined

/** @throws Untestable when nothing is sent there any more, or nobody listens there again in time */
async function requireListener(state: EndpointState, patience: Patience): Promise<void> {
  const { host, url } = state
  if (state.silentInARow >= silentAfter || state.silent >= silentAfterInAll) {
    throw new Untestable(`not asked: ${new URL(url).pathname} left ${state.silent} requests without an answer`)
  }
  const { death } = host
  if (!death) return
  if (!death.isFinal && (await isBack(url, patience.restartMs))) {
    delete host.death
    return
  }
  death.isFinal = true
  const because = death.of === undefined ? {} : { because: death.of }
  throw new Untestable(`not asked: the target stopped answering after ${death.after}`, because)
}

/** A closed connection is a way to refuse. When nobody listens there afterwards, the target has died. */
async function withDeath(answer: Answer, url: string): Promise<Answer> {
  if (answer.failure?.kind !== 'closed' || !(await hasDied(url))) return answer
  const failure = { kind: 'died', message: 'the target closed the connection and listens no more' } as const
  return { ...answer, failure, exchange: { ...answer.exchange, failure } }
}

/** @param record is told each exchange */
export function createEndpoint(
  { http, clock, patience }: EndpointTools,
  state: EndpointState,
  record: (exchange: Exchange) => void,
): Endpoint {
  async function exchange(body: Body, options: SendOptions): Promise<Answer> {
    const sentAtMs = ourTimeMs()
    const sent = await http.send({
      url: state.url,
      method: options.method ?? 'POST',
      headers: options.headers ?? { 'content-type': 'application/json' },
      ...(body === undefined ? {} : { body }),
      ...(options.once ? { once: true } : {}),
    })
    const answer = await withDeath(sent, state.url)
    record(answer.exchange)
    if (answer.failure?.kind !== 'refused') state.host.last = nameOf(answer.exchange)
    const isSilent = answer.failure !== undefined && answer.failure.kind !== 'closed'
    state.silentInARow = isSilent ? state.silentInARow + 1 : 0
    if (isSilent) state.silent++
    clock.see(answer.headers['date'], sentAtMs, ourTimeMs())
    return answer
  }

  /** @throws Fault of the clause that promised an answer, when the target died of the request */
  function noticeDeath(answer: Answer, { owedBy }: SendOptions): void {
    // The target listened when the run began: a refused connection says that it died before this request.
    if (answer.failure?.kind === 'refused') {
      state.host.death ??= { after: state.host.last ?? 'the first requests', isFinal: false }
    }
    if (answer.failure?.kind !== 'died') return
    state.host.death = { after: nameOf(answer.exchange), of: owedBy, isFinal: false }
    state.silentInARow = 0
    if (owedBy === undefined) return
    throw new Fault('the target stopped answering after this valid request', {
      expected: 'an answer, and a service that goes on',
      actual: answer.failure.message,
      answer,
      of: owedBy,
    })
  }

  /** Whether a request that costs nothing is limited too: then a limit does not mean the one request. */
  async function isLimited(): Promise<boolean> {
    if (state.cheapRequest === undefined) return false
    const headers = { 'content-type': 'application/json' }
    const answer = await http.send({ url: state.url, method: 'POST', headers, body: state.cheapRequest })
    return rateLimitOf(answer, 0) !== undefined
  }

  async function ask(makeBody: () => Body, options: SendOptions): Promise<Answer> {
    for (let attempt = 0; ; attempt++) {
      await requireListener(state, patience)
      const answer = await exchange(makeBody(), options)
      noticeDeath(answer, options)
      if (answer.failure?.kind === 'refused') continue
      const limit = options.takeRateLimit ? undefined : rateLimitOf(answer, attempt)
      if (!limit || (!limit.isCertain && !(await isLimited()))) return answer
      const { waitMs } = limit
      if (!patience.mayWait(waitMs)) {
        throw new Untestable(`the target asks to wait for ${Math.round(waitMs / 1000)} s: ${describeAnswer(answer)}`)
      }
      await delay(waitMs)
    }
  }

  return {
    sendRaw: (body, options = {}) => ask(() => body, options),
    send: (body, options = {}) =>
      ask(() => stringify(typeof body === 'function' ? (body as () => unknown)() : body), options),
  }
}

const connectTimeoutMs = 2000
const pauseMs = 100
/** A process that ends closes its connections before its port: looked at this often. */
const looks = 3

/** Whether a TCP connection to the host and port of the URL is taken. */
function listens(url: URL): Promise<boolean> {
  const port = url.port === '' ? (url.protocol === 'https:' ? 443 : 80) : Number(url.port)
  const socket = connect({ host: url.hostname.replace(/^\[|\]$/g, ''), port, timeout: connectTimeoutMs })
  return new Promise((resolve) => {
    const end = (found: boolean) => {
      socket.destroy()
      resolve(found)
    }
    socket.once('connect', () => end(true))
    socket.once('error', () => end(false))
    socket.once('timeout', () => end(false))
  })
}

/** Whether nobody listens at the URL any more, a moment after it closed a connection without an answer. */
export async function hasDied(url: string): Promise<boolean> {
  for (let look = 0; look < looks; look++) {
    if (await listens(new URL(url))) return false
    await delay(pauseMs)
  }
  return true
}

/** Waits until somebody listens at the URL again. @returns false when nobody does within `timeoutMs` */
export async function isBack(url: string, timeoutMs: number): Promise<boolean> {
  const deadline = performance.now() + timeoutMs
  while (!(await listens(new URL(url)))) {
    if (performance.now() >= deadline) return false
    await delay(pauseMs)
  }
  return true
}

/** The two paths of the relay under {relay_url}. */
export interface RelayTarget {
  /** POST /execute with any body. Spends when the target takes it: ask `spending` first (the drivers do). */
  execute(body: unknown, options?: SendOptions): Promise<Answer>
  /** POST /quota with any body. */
  quota(body: unknown, options?: SendOptions): Promise<Answer>
  /** The paths as they are, for bodies that are no JSON and for other verbs. */
  readonly paths: { readonly execute: Endpoint; readonly quota: Endpoint }
}

export function createRelayTarget(execute: Endpoint, quota: Endpoint): RelayTarget {
  return {
    execute: (body, options) => execute.send(body, { once: true, ...options }),
    quota: (body, options) => quota.send(body, options),
    paths: { execute, quota },
  }
}

/** POST {base_url}/api/eth-rpc of the target. */
export interface RpcTarget extends Endpoint {
  /** The documented envelope with an integer id of its own; `params` default to the empty array. */
  call(method: string, params?: readonly unknown[], options?: SendOptions): Promise<Answer>
}

export function createRpcTarget(endpoint: Endpoint, nextId: () => number): RpcTarget {
  const send = (method: string, params: readonly unknown[], options: SendOptions): Promise<Answer> =>
    endpoint.send({ id: nextId(), jsonrpc: '2.0', method, params }, options)

  /**
   * "Limit exceeded" (-32005) is said of requests, which are waited for, and of what a filter selects, which no wait
   * makes less. Where another request is served in between, the filter is meant.
   */
  async function getLogs(params: readonly unknown[], options: SendOptions): Promise<Answer> {
    const method = 'eth_getLogs'
    const now = { ...options, takeRateLimit: true }
    const first = await send(method, params, now)
    const isLimit = (answer: Answer): boolean => isLimitError(answer.json) || [429, 503].includes(answer.status ?? 0)
    if (!isLimit(first)) return first
    if (isLimitError(first.json) && isServed(await send('eth_chainId', [], now))) {
      const again = await send(method, params, now)
      if (isLimitError(again.json) || !isLimit(again)) return again
    }
    return send(method, params, options)
  }

  return {
    ...endpoint,
    call: (method, params = [], options = {}) =>
      method === 'eth_getLogs' && !options.takeRateLimit ? getLogs(params, options) : send(method, params, options),
  }
}
