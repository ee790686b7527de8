import { withinTime } from '../../concurrency/within-time.ts'
import type { OpenedAccount } from '../../core/define.ts'
import { ServiceError } from '../../core/errors.ts'

/** How long a model may take, for example to ask the chain. */
const TIMEOUT_MS = 5_000
/** What a model has answered is used for so long: from the admission of a call until it is stored. */
const VALID_MS = 30_000
/** The most answers that are kept. The oldest goes first. */
const MAX_KEPT = 10_000
const RETRY_SECONDS = 2

/**
 * Thrown where an account opens whose model has not answered yet. A database transaction must not wait for it with locked
 * rows, so it is rolled back and begins again when the answer is there: see {@link whenOpened}.
 */
export class OpeningUnderWay extends Error {
  /** Rejects with ServiceError UPSTREAM_UNAVAILABLE when the model fails or takes too long. */
  readonly opened: Promise<unknown>

  constructor(opened: Promise<unknown>) {
    super('a quota model has not answered yet')
    this.opened = opened
    // Somebody may only have looked whether the answer is there.
    opened.catch(() => {})
  }
}

/**
 * Does work in which accounts may open, and begins it again when a quota model had to be waited for.
 *
 * @throws ServiceError UPSTREAM_UNAVAILABLE a model fails, or takes too long; what the work throws
 */
export async function whenOpened<Result>(work: () => Result | Promise<Result>): Promise<Result> {
  for (;;) {
    try {
      return await work()
    } catch (error) {
      if (!(error instanceof OpeningUnderWay)) throw error
      await error.opened
    }
  }
}

/**
 * Waits for a quota model.
 *
 * @throws ServiceError UPSTREAM_UNAVAILABLE it fails, or takes too long
 */
export async function inTime<Answer>(model: string, answer: Promise<Answer>, timeoutMs = TIMEOUT_MS): Promise<Answer> {
  try {
    return await withinTime(answer, performance.now() + timeoutMs, () => new Error(`no answer within ${timeoutMs} ms`))
  } catch (cause) {
    if (cause instanceof ServiceError) throw cause
    throw new ServiceError('UPSTREAM_UNAVAILABLE', `the quota model '${model}' does not answer`, {
      cause,
      retryAfterSeconds: RETRY_SECONDS,
    })
  }
}

/**
 * Remembers what the asynchronous model of a plan answers, for work that is done again.
 *
 * @param model name of the quota model
 */
export function createOpenings(model: string) {
  const answers = new Map<string, { readonly opening: OpenedAccount; readonly untilMs: number }>()
  const underWay = new Map<string, Promise<OpenedAccount>>()

  async function ask(profile: string, answer: Promise<OpenedAccount>): Promise<OpenedAccount> {
    try {
      const opening = await inTime(model, answer)
      answers.delete(profile)
      answers.set(profile, { opening, untilMs: performance.now() + VALID_MS })
      for (const oldest of answers.keys()) {
        if (answers.size <= MAX_KEPT) break
        answers.delete(oldest)
      }
      return opening
    } finally {
      underWay.delete(profile)
    }
  }

  /**
   * @param open asks the model
   * @throws OpeningUnderWay the model has not answered yet
   */
  return (profile: string, open: () => OpenedAccount | Promise<OpenedAccount>): OpenedAccount => {
    const known = answers.get(profile)
    if (known && known.untilMs > performance.now()) return known.opening
    let waiting = underWay.get(profile)
    if (!waiting) {
      const answer = open()
      if (!(answer instanceof Promise)) return answer
      waiting = ask(profile, answer)
      underWay.set(profile, waiting)
    }
    throw new OpeningUnderWay(waiting)
  }
}
