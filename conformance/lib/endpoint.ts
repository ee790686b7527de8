import { setTimeout as delay } from 'node:timers/promises'
import { describe, type Answer } from './answer.ts'
import type { HttpClient } from './http.ts'
import { Untestable } from './outcome.ts'
import { stringify } from './lossless-json.ts'
import type { Exchange } from './report-types.ts'
import { ourTimeMs, type AdjustableClock } from './target-clock.ts'

/** After so many requests in a row without an answer nothing more is sent there: a silent target ends in bounded time. */
const silentAfter = 3
/** And after so many in all. */
const silentAfterInAll = 20
/** Documents that show no rate limits forbid none: waited for, up to this long in all per request. */
const rateLimitPatienceMs = 15_000

export interface SendOptions {
  readonly method?: string
  /** Instead of `Content-Type: application/json`. */
  readonly headers?: Readonly<Record<string, string>>
  /** A connection of its own, never repeated: for requests that spend. */
  readonly once?: boolean
  /** Hand over an answer 429 as it is, instead of waiting and asking again. */
  readonly takeRateLimit?: boolean
}

/** One URL of the target, used by one check. */
export interface Endpoint {
  /** Sends a value as JSON; bigints keep all of their digits. */
  send(body: unknown, options?: SendOptions): Promise<Answer>
  /** Sends a body as it stands; undefined: none. */
  sendRaw(body: string | Uint8Array | undefined, options?: SendOptions): Promise<Answer>
}

/** What all checks know together of a URL. */
export interface EndpointState {
  readonly url: string
  silentInARow: number
  /** Requests without an answer in all. */
  silent: number
}

function retryAfterMs(answer: Answer): number {
  const seconds = Number(answer.headers['retry-after'] ?? '1')
  return Number.isFinite(seconds) ? Math.max(seconds, 0.2) * 1000 : 1000
}

/** @param record is told each exchange */
export function createEndpoint(
  { http, clock }: { readonly http: HttpClient; readonly clock: AdjustableClock },
  state: EndpointState,
  record: (exchange: Exchange) => void,
): Endpoint {
  async function sendRaw(body: string | Uint8Array | undefined, options: SendOptions = {}): Promise<Answer> {
    let waitedMs = 0
    for (;;) {
      if (state.silentInARow >= silentAfter || state.silent >= silentAfterInAll) {
        throw new Untestable(
          `not asked: ${new URL(state.url).pathname} left ${state.silent} requests without an answer`,
        )
      }
      const sentAtMs = ourTimeMs()
      const answer = await http.send({
        url: state.url,
        method: options.method ?? 'POST',
        headers: options.headers ?? { 'content-type': 'application/json' },
        ...(body === undefined ? {} : { body }),
        ...(options.once ? { once: true } : {}),
      })
      record(answer.exchange)
      state.silentInARow = answer.failure ? state.silentInARow + 1 : 0
      if (answer.failure) state.silent++
      clock.see(answer.headers['date'], sentAtMs, ourTimeMs())
      if (answer.status !== 429 || options.takeRateLimit) return answer
      const waitMs = retryAfterMs(answer)
      if (waitedMs + waitMs > rateLimitPatienceMs) {
        throw new Untestable(`the target asks to wait for ${Math.round(waitMs / 1000)} s: ${describe(answer)}`)
      }
      waitedMs += waitMs
      await delay(waitMs)
    }
  }
  return { sendRaw, send: (body, options) => sendRaw(stringify(body), options) }
}
