import type { Dispatcher } from 'undici'

export interface Post {
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
  readonly timeoutMs: number
}

export interface TextAnswer {
  readonly status: number
  readonly text: string
  /** Header `Retry-After`, where there is one. */
  readonly retryAfter?: string
}

/** Drops a byte order mark. */
const utf8 = new TextDecoder()

/** The answer did not come in time. */
export class TimeoutError extends Error {}

/**
 * Posts a text, and reads the answer as a text. It does what undici's `request` does, without a stream and a signal for
 * each call: these two take longer than the call itself.
 *
 * @throws TimeoutError; undici's errors
 */
export function postText(dispatcher: Dispatcher, { path, headers, body, timeoutMs }: Post): Promise<TextAnswer> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = []
    let status = 0
    let retryAfter: string | undefined
    let running: Dispatcher.DispatchController | undefined
    let late: TimeoutError | undefined
    const timer = setTimeout(() => {
      late = new TimeoutError(`no answer within ${timeoutMs} ms`)
      reject(late)
      running?.abort(late)
    }, timeoutMs)
    const fail = (error: Error) => {
      clearTimeout(timer)
      reject(error)
    }
    dispatcher.dispatch(
      { method: 'POST', path, headers, body, headersTimeout: 0, bodyTimeout: 0 },
      {
        onRequestStart: (controller) => {
          running = controller
          if (late) controller.abort(late)
        },
        onResponseStart: (_controller, statusCode, responseHeaders) => {
          status = statusCode
          const value = responseHeaders['retry-after']
          if (typeof value === 'string') retryAfter = value
        },
        onResponseData: (_controller, chunk) => void chunks.push(chunk),
        onResponseEnd: () => {
          clearTimeout(timer)
          const text = utf8.decode(chunks.length === 1 ? chunks[0] : Buffer.concat(chunks))
          resolve(retryAfter === undefined ? { status, text } : { status, text, retryAfter })
        },
        onResponseError: (_controller, error) => fail(error),
      },
    )
  })
}
