import type { Answer } from '../answer.ts'

/** The words of a refusal, without what differs from answer to answer. */
function wordsOf({ text }: Answer): string {
  return text.replace(/\d+|0x[0-9a-f]+/gi, '')
}

/** Whether an answer with this status says that the request is not authenticated, or not enough. */
export function isUnauthorised({ status, headers }: Answer): boolean {
  return status === 401 || status === 403 || status === 407 || headers['www-authenticate'] !== undefined
}

/**
 * Whether the answer to a valid request asks for a credential that the documents do not have: it names a scheme, or it
 * is the same before the body was even looked at.
 *
 * @param askEmpty sends an empty object to the same path
 */
export async function demandsCredential(refused: Answer, askEmpty: () => Promise<Answer>): Promise<boolean> {
  if (!isUnauthorised(refused)) return false
  if (refused.status === 407 || refused.headers['www-authenticate'] !== undefined) return true
  const empty = await askEmpty()
  return empty.status === refused.status && wordsOf(empty) === wordsOf(refused)
}

/** So often a target is asked again that says to be busy. */
const mostAttempts = 4
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
  if (answer.failure || attempt >= mostAttempts) return undefined
  const { status = 0, text, headers } = answer
  const hasWords = status !== 401 && laterWords.test(text)
  const isLater = laterStatuses.includes(status) || (status !== 401 && headers['retry-after'] !== undefined) || hasWords
  return isLater ? firstWaitMs * 2 ** (attempt - 1) : undefined
}
