import type { Exchange } from './report-types.ts'

/** With fewer answers, a target may answer valid and broken requests alike by chance. */
const fewest = 2
/** After this many answers that are all alike, the run ends. */
const enough = 10
const shownChars = 60

interface Kind {
  /** Answers of one kind have the same key. */
  readonly key: string
  /** Says what all answers have in common, and what the user should look at. */
  readonly sentence: string
}

function shown(body: string): string {
  const text = body.replace(/\s+/g, ' ').trim()
  return text.length > shownChars ? `${text.slice(0, shownChars)}…` : text
}

/** The kind of an answer: what it has in common with the answers of a wrong URL, a proxy or an empty server. */
function kindOf({ response, failure }: Exchange): Kind {
  if (!response) return { key: failure?.kind ?? 'no answer', sentence: 'no request is answered' }
  const { status, headers, body } = response
  if (status >= 300 && status < 400) {
    const to = headers['location'] === undefined ? '' : ` to ${headers['location']}`
    return {
      key: `${status}`,
      sentence: `every request is redirected (HTTP ${status}${to}): is it another URL, or https instead of http?`,
    }
  }
  if (status === 401 || status === 403 || status === 407) {
    return { key: `${status}`, sentence: `every answer is HTTP ${status}: does the target want a credential?` }
  }
  if (status >= 500) {
    return { key: `${status}`, sentence: `every answer is HTTP ${status}: is the service behind the URL running?` }
  }
  if (status >= 400) {
    return { key: `${status}`, sentence: `every answer is HTTP ${status}: is the base URL right, with its prefix?` }
  }
  return {
    key: `${status} ${body}`,
    sentence: `every answer is the same, HTTP ${status} ${shown(body) || 'without a body'}: is the service at this URL?`,
  }
}

/** Collects the answers of a run and finds out whether the target answers everything alike. */
export interface AnswerCensus {
  see(exchange: Exchange): void
  /**
   * One sentence on what all answers have in common; undefined when two answers differ. A target that answers valid
   * and broken requests alike is no relay service, so no clause can be judged.
   */
  uniform(): string | undefined
  /** Whether the answers are alike and many enough to end the run. */
  isHopeless(): boolean
}

export function createAnswerCensus(): AnswerCensus {
  let first: Kind | undefined
  let count = 0
  let isUniform = true
  return {
    see(exchange) {
      const kind = kindOf(exchange)
      first ??= kind
      count++
      if (kind.key !== first.key) isUniform = false
    },
    uniform: () => (isUniform && count >= fewest ? first?.sentence : undefined),
    isHopeless: () => isUniform && count >= enough,
  }
}
