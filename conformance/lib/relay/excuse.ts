import type { Answer } from '../answer.ts'

/** So often a target is asked again that says to be busy. */
const attempts = 4
const firstWaitMs = 500

/** Statuses that say "not now": conflict, locked, too early, too many requests, unavailable. */
const laterStatuses = [409, 423, 425, 429, 503]
// The documents show neither limits nor their answers, so that words may excuse; none accuses.
const laterWords = /\brate\b|limit|too many|too fast|busy|pending|in progress|try again|retry|later/i

/**
 * How long to wait before a refused request is sent again, where the refusal may be that of a limit: on calls at a time,
 * on requests in a time.
 *
 * @param attempt how often it has been sent
 * @returns ms; undefined when nothing excuses the refusal, or often enough was asked
 */
export function excuseMs(answer: Answer, attempt: number): number | undefined {
  if (answer.failure || attempt >= attempts) return undefined
  const { status = 0, text, headers } = answer
  const hasWords = status !== 401 && laterWords.test(text)
  const isLater = laterStatuses.includes(status) || (status !== 401 && headers['retry-after'] !== undefined) || hasWords
  return isLater ? firstWaitMs * 2 ** (attempt - 1) : undefined
}
