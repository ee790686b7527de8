import type { Dispatcher } from 'undici'

export interface Post {
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
  readonly timeoutMs: number
}

/** Leaves a byte order mark out. */
const utf8 = new TextDecoder()

/** The answer did not come in time. */
export class TimeoutError extends Error {}

/**
 * Posts a text and reads the answer as one. It does what undici's `request` does without a stream and a signal for each
 * call, which take longer than the call.
 *
 * @throws TimeoutError; undici's errors
 */
export function postText(
  dispatcher: Dispatcher,
  { path, headers, body, timeoutMs }: Post,
): Promise<{ status: number; text: string }> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = []
    let status = 0
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
        onResponseStart: (_controller, statusCode) => void (status = statusCode),
        onResponseData: (_controller, chunk) => void chunks.push(chunk),
        onResponseEnd: () => {
          clearTimeout(timer)
          resolve({ status, text: utf8.decode(chunks.length === 1 ? chunks[0] : Buffer.concat(chunks)) })
        },
        onResponseError: (_controller, error) => fail(error),
      },
    )
  })
}
