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
