import { setTimeout as delay } from 'node:timers/promises'
import type { ClauseId } from '../../specs/index.ts'
import { describe, type Answer } from './answer.ts'
import type { HttpClient } from './http.ts'
import { hasDied, isBack } from './liveness.ts'
import { stringify } from './lossless-json.ts'
import { Fault, Untestable } from './outcome.ts'
import type { Patience } from './patience.ts'
import { rateLimitOf } from './rate-limit.ts'
import type { Exchange } from './report-types.ts'
import { ourTimeMs, type AdjustableClock } from './target-clock.ts'

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
        throw new Untestable(`the target asks to wait for ${Math.round(waitMs / 1000)} s: ${describe(answer)}`)
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
