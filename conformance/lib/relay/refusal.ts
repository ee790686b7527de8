import type { Answer } from '../answer.ts'

/** The text of a refusal without numbers and hashes, which differ between answers. */
function wordsOf({ text }: Answer): string {
  return text.replace(/\d+|0x[0-9a-f]+/gi, '')
}

/** Whether the answer says that the request is not authenticated, or not enough. */
export function isUnauthorised({ status, headers }: Answer): boolean {
  return status === 401 || status === 403 || status === 407 || headers['www-authenticate'] !== undefined
}

/**
 * Whether the answer to a valid request asks for a credential that the documents do not have: it names a scheme, or
 * an empty request gets the same answer.
 *
 * @param askEmpty sends an empty object to the same path
 */
export async function demandsCredential(refused: Answer, askEmpty: () => Promise<Answer>): Promise<boolean> {
  if (!isUnauthorised(refused)) return false
  if (refused.status === 407 || refused.headers['www-authenticate'] !== undefined) return true
  const empty = await askEmpty()
  return empty.status === refused.status && wordsOf(empty) === wordsOf(refused)
}

/** How often a request is sent to a target that says that it is busy. */
const mostAttempts = 4
const firstWaitMs = 500

/** Statuses that mean "not now": conflict, locked, too early, too many requests, unavailable. */
const laterStatuses = [409, 423, 425, 429, 503]
// The documents show neither limits nor their answers. So words may excuse a refusal, and never accuse.
const laterWords = /\brate\b|limit|too many|too fast|busy|pending|in progress|try again|retry|later/i

/**
 * How long to wait before a refused request is sent again, when the refusal may come from a limit of the target.
 *
 * @param attempt how often the request has been sent
 * @returns ms; undefined when nothing excuses the refusal, or when the request was sent often enough
 */
export function excuseMs(answer: Answer, attempt: number): number | undefined {
  if (answer.failure || attempt >= mostAttempts) return undefined
  const { status = 0, text, headers } = answer
  const hasWords = status !== 401 && laterWords.test(text)
  const isLater = laterStatuses.includes(status) || (status !== 401 && headers['retry-after'] !== undefined) || hasWords
  return isLater ? firstWaitMs * 2 ** (attempt - 1) : undefined
}
