import type { ClauseId } from '../../specs/index.ts'
import { type Answer, describeAnswer, errorCodeOf, isHungUp, isServed, isSuccess, wordsOf } from './answer.ts'
import { type HostState, isBack, nameOf, noticeDeath, requireAlive, withDeath } from './death.ts'
import type { HttpClient } from './http.ts'
import { stringify } from './lossless-json.ts'
import { Untestable } from './outcome.ts'
import { isPassingError, type Patience, rateLimitOf, retryAfterMs } from './limits.ts'
import { createQueue, type Queue } from './queue.ts'
import type { Exchange, ExchangeFailure } from './report-types.ts'
import { type AdjustableClock } from './target-clock.ts'
import { delay, ourTimeMs } from './world.ts'

/**
 * After this many requests in a row without an answer, the run sends nothing more to the URL, so that a silent
 * target ends in bounded time.
 */
const silentAfter = 3
/** An error 503 that names no time is taken for a rate limit this many times in a row. */
const guesses = 3
/** An error that tells of a limit, while other requests are served, is taken for one of the method so often in a row. */
const methodLooks = 3
/** A target that refuses what it has served before, and does not say why, is asked again this many times in a row. */
const untoldLooks = 5
const firstUntoldWaitMs = 1000
/** A limit that is not told ends between a request and the cheap one at most once in so many times. */
const waitsPerSecondLook = 10
/** A target counts as one that does not serve the cheap request when it refuses it this often beside requests that it serves. */
const cheapLooks = 3
/** After this many requests without an answer in the whole run, the run sends nothing more to the URL. */
const silentAfterInAll = 20

export interface SendOptions {
  readonly method?: string
  /** Sent in place of `Content-Type: application/json`. */
  readonly headers?: Readonly<Record<string, string>>
  /** Uses a connection of its own, and never sends the request again: for requests that spend. */
  readonly once?: boolean
  /** Returns an answer that tells of a rate limit, instead of waiting and asking again. */
  readonly takeRateLimit?: boolean
  /** Whether something else is behind a limit that names no time. Asked before each wait for it, with their number so far. */
  readonly isInVain?: (waits: number) => Promise<boolean>
  /** The clause that promises an answer to this request. A target that dies of the request breaks this clause. */
  readonly owedBy?: ClauseId
}

/** One URL of the target, used by one check. */
export interface Endpoint {
  /**
   * Sends a value as JSON; bigints keep all of their digits. A function is called for the value before each attempt,
   * since a signed timestamp ages while the run waits for a rate limit.
   *
   * @throws Untestable when the target is silent or gone; Fault of `owedBy` when the target dies of this request
   */
  send(body: unknown, options?: SendOptions): Promise<Answer>
  /** Sends a body as it is; undefined: no body. */
  sendRaw(body: string | Uint8Array | undefined, options?: SendOptions): Promise<Answer>
}

/** What the run knows of a limit that the target does not tell. */
interface UntoldLimit {
  /** What the target has answered when it refused all requests, without numbers. */
  readonly answers: Set<string>
  /** How often the run has waited for it. */
  waits: number
  /** How often a request was refused like that, and served when it came again at once. */
  secondLooks: number
}

/** What all checks of the run know of one URL. */
export interface EndpointState {
  readonly url: string
  readonly host: HostState
  /** A valid request that a service can always answer cheaply; absent: the path has none. */
  readonly cheapRequest?: string
  /** Words of errors that tell of a limit, and that waiting did not end. */
  readonly lasting: Set<string>
  readonly untold: UntoldLimit
  /** Requests that wait for a limit. Others stand behind them, since they would use up what the limit gives. */
  readonly queue: Queue
  silentInARow: number
  /** How many requests had no answer in the whole run. */
  silent: number
  /** Whether the run took errors 503 for a rate limit, and they did not end. */
  isDown?: boolean
  /** Whether the target has answered some request with a 2xx status. */
  hasServed?: boolean
  /** Whether the target serves the cheap request; undefined: that is not known yet. */
  servesCheap?: boolean
  /** How often it refused the cheap request right after it had served another. */
  cheapRefusals: number
}

/** The state of a URL that was not asked yet. */
export function endpointState({ url, host }: Pick<EndpointState, 'url' | 'host'>): EndpointState {
  return {
    url,
    host,
    lasting: new Set(),
    untold: { answers: new Set(), waits: 0, secondLooks: 0 },
    queue: createQueue(),
    silentInARow: 0,
    silent: 0,
    cheapRefusals: 0,
  }
}

interface EndpointTools {
  readonly http: HttpClient
  readonly clock: AdjustableClock
  readonly patience: Patience
  /** What a reader must know of the whole run. */
  readonly notes: string[]
}

type Body = string | Uint8Array | undefined

/** @throws Untestable when the run sends nothing more to the URL, or when nobody listens there again in time */
async function requireListener(state: EndpointState, patience: Patience): Promise<void> {
  const { host, url } = state
  if (state.silentInARow >= silentAfter || state.silent >= silentAfterInAll) {
    throw new Untestable(`not asked: ${new URL(url).pathname} left ${state.silent} requests without an answer`)
  }
  await requireAlive(host, url, patience.restartMs)
}

/** Failures of a target that refuses, or that is gone: it is looked for by itself. */
const whenGone: readonly ExchangeFailure['kind'][] = ['closed', 'died', 'refused']

const cameBack = 'the target stopped listening during the run and came back: what it had not answered was sent again'

/** Whether an error 503 that names no time may still be a rate limit. When one lasts, the service is down. */
function mayGuess(state: EndpointState, attempt: number): boolean {
  if (attempt >= guesses) state.isDown = true
  return state.isDown !== true
}

async function askCheap(http: HttpClient, { url, cheapRequest }: EndpointState): Promise<Answer | undefined> {
  if (cheapRequest === undefined) return undefined
  return http.send({ url, method: 'POST', headers: { 'content-type': 'application/json' }, body: cheapRequest })
}

/**
 * Whether a rate limit meets a cheap request as well, or it has no answer at all. If not, the answer is about the other
 * request alone.
 */
async function isLimited(http: HttpClient, state: EndpointState): Promise<boolean> {
  const answer = await askCheap(http, state)
  return answer !== undefined && (answer.failure !== undefined || rateLimitOf(answer, 0) !== undefined)
}

/**
 * Whether the target refuses a request, and with it the cheap one that it has served before. It may limit the run and not
 * say so. When that lasts, the service is broken.
 */
async function refusesAll(http: HttpClient, state: EndpointState, answer: Answer, attempt: number): Promise<boolean> {
  if (answer.failure && !isHungUp(answer)) return false
  if (Array.isArray(answer.json) || state.cheapRequest === undefined) return false
  const isServing = isServed(answer)
  if (isServing && state.servesCheap === undefined) {
    const cheap = await askCheap(http, state)
    if (cheap && isServed(cheap)) state.servesCheap = true
    else if (++state.cheapRefusals >= cheapLooks) state.servesCheap = false
  }
  if (attempt >= untoldLooks) state.servesCheap = false
  if (isServing || state.servesCheap !== true) return false
  const cheap = await askCheap(http, state)
  if (!cheap || isServed(cheap)) return false
  const code = errorCodeOf(answer)
  // An error with a code that the cheap request does not get is about the request.
  return code === undefined || code === errorCodeOf(cheap)
}

/** A refusal without what differs between answers of a kind. */
function kindOf(answer: Answer): string {
  return answer.failure ? answer.failure.kind : `${answer.status} ${wordsOf(answer)}`
}

/**
 * Whether a limit that is not told may have ended between a request and the cheap one. That happens to few of its
 * refusals; a target that does it again and again refuses valid requests now and then.
 */
function mayHaveEnded({ untold }: EndpointState): boolean {
  return untold.secondLooks * waitsPerSecondLook < untold.waits
}

/**
 * Whether an error of JSON-RPC that tells of a limit, though other requests are served, may be a rate limit of the one method.
 * Nodes use the same error for a filter that selects too much. That one stays, and is known by its words from then on.
 */
function mayBeOfMethod(state: EndpointState, answer: Answer, attempt: number): boolean {
  const words = wordsOf(answer)
  if (attempt >= methodLooks) state.lasting.add(words)
  return !state.lasting.has(words)
}

interface Wait {
  readonly ms: number
  /** Whether the limit meets all requests to the URL. */
  readonly isForAll: boolean
  /** The answer, when the run may not wait for so long. @throws Untestable when the answer is about the limit alone */
  readonly giveUp: () => Answer
}

/**
 * The wait that an answer asks for, if it may come from a limit.
 *
 * @param attempt how often the run has waited for the request
 */
async function waitOf(
  http: HttpClient,
  state: EndpointState,
  answer: Answer,
  attempt: number,
): Promise<Wait | undefined> {
  const limit = rateLimitOf(answer, attempt)
  if (!limit) {
    if (!(await refusesAll(http, state, answer, attempt))) return undefined
    state.untold.answers.add(kindOf(answer))
    state.untold.waits++
    return { ms: firstUntoldWaitMs * 2 ** attempt, isForAll: true, giveUp: () => answer }
  }
  if ((limit.isGuess && !mayGuess(state, attempt)) || (limit.isPage && !state.hasServed)) return undefined
  const isOfJsonRpc = state.cheapRequest !== undefined && isPassingError(answer)
  if ((!limit.isCertain || isOfJsonRpc) && !(await isLimited(http, state))) {
    const mayEnd = isOfJsonRpc && mayBeOfMethod(state, answer, attempt)
    return mayEnd ? { ms: limit.waitMs, isForAll: false, giveUp: () => answer } : undefined
  }
  const giveUp = (): Answer => {
    if (limit.isGuess) return answer
    const asks =
      retryAfterMs(answer) === undefined
        ? 'limits the run, and does not say for how long'
        : `asks to wait for ${Math.round(limit.waitMs / 1000)} s`
    throw new Untestable(`the target ${asks}: ${describeAnswer(answer)}`)
  }
  return { ms: limit.waitMs, isForAll: true, giveUp }
}

/** @param record called with each exchange */
export function createEndpoint(
  { http, clock, patience, notes }: EndpointTools,
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
    const isSilent = answer.failure !== undefined && !whenGone.includes(answer.failure.kind)
    state.silentInARow = isSilent ? state.silentInARow + 1 : 0
    if (isSilent) state.silent++
    clock.see(answer.headers['date'], sentAtMs, ourTimeMs())
    return answer
  }

  async function ask(makeBody: () => Body, options: SendOptions): Promise<Answer> {
    let leave = state.queue.isTaken ? await state.queue.enter() : undefined
    let isSecondLook = false
    let hasDied = false
    try {
      for (let attempt = 0; ;) {
        await requireListener(state, patience)
        const answer = await exchange(makeBody(), options)
        let isGone = false
        if (answer.failure?.kind === 'died' && !hasDied) {
          // Something else may have ended the target, so it is to blame where it dies of the same request again.
          hasDied = true
          isGone = !(await isBack(state.url, patience.restartMs))
          if (!isGone) {
            if (!notes.includes(cameBack)) notes.push(cameBack)
            if (options.once) return answer
            continue
          }
        }
        noticeDeath(state.host, answer, options.owedBy, isGone)
        if (answer.failure?.kind === 'refused') continue
        state.hasServed ||= isSuccess(answer)
        if (options.takeRateLimit) return answer
        const wait = await waitOf(http, state, answer, attempt)
        if (!wait) {
          const isLikeLimit = state.untold.answers.has(kindOf(answer))
          if (isSecondLook && !isLikeLimit) state.untold.secondLooks++
          if (isSecondLook || !isLikeLimit || !mayHaveEnded(state)) return answer
          isSecondLook = true
          continue
        }
        if (wait.isForAll && state.cheapRequest !== undefined) {
          const { isTaken } = state.queue
          const isFirstWait = leave === undefined
          leave ??= await state.queue.enter()
          // The limit may have ended while others waited for it.
          if (isFirstWait && isTaken) continue
        }
        if (retryAfterMs(answer) === undefined && (await options.isInVain?.(attempt))) return answer
        if (!patience.mayWait(wait.ms)) return wait.giveUp()
        await delay(wait.ms)
        attempt++
      }
    } finally {
      leave?.()
    }
  }

  return {
    sendRaw: (body, options = {}) => ask(() => body, options),
    send: (body, options = {}) =>
      ask(() => stringify(typeof body === 'function' ? (body as () => unknown)() : body), options),
  }
}

/** The two paths of the relay under {relay_url}. */
export interface RelayTarget {
  /**
   * Sends POST /execute with any body. The target may turn the body into a transaction, so `execute` of
   * `relay/call.ts` asks `spending` first.
   */
  execute(body: unknown, options?: SendOptions): Promise<Answer>
  /** Sends POST /quota with any body. */
  quota(body: unknown, options?: SendOptions): Promise<Answer>
  /** The same paths for bodies that are no JSON and for other verbs. */
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
  /** Sends the documented envelope with an integer id of its own; absent `params`: the empty array. */
  call(method: string, params?: readonly unknown[], options?: SendOptions): Promise<Answer>
}

export function createRpcTarget(endpoint: Endpoint, nextId: () => number): RpcTarget {
  return {
    ...endpoint,
    call: (method, params = [], options = {}) =>
      endpoint.send({ id: nextId(), jsonrpc: '2.0', method, params }, options),
  }
}
