import type { ClauseId } from '../../specs/index.ts'
import { stringify } from '../lib/lossless-json.ts'
import { Fault, Untestable } from '../lib/outcome.ts'
import type { Edition } from '../lib/report-types.ts'
import type { Recorded, Recording } from './recording.ts'

/** What a check of a client works with: all that the client did. A check sends nothing. */
export interface ClientContext {
  readonly edition: Edition
  readonly recording: Recording
  /** Shows an exchange under the check. */
  show(recorded: Recorded): void
  /** Records what the check saw and does not judge. */
  observe(text: string): void
}

/** A clause about clients, and its check. */
export interface ClientClause {
  readonly id: ClauseId
  readonly title: string
  /** @throws Fault the client breaks the clause; Untestable it did nothing that the clause speaks of */
  judge(t: ClientContext): void
}

export const clientClause = (id: ClauseId, title: string, judge: ClientClause['judge']): ClientClause => ({
  id,
  title,
  judge,
})

/** What is wrong with a request. */
export interface Wrong {
  readonly message: string
  readonly expected: string
  readonly actual: string
}

/** JSON of a value for a message; what is not there says so. */
export const show = (value: unknown): string => (value === undefined ? 'absent' : stringify(value)).slice(0, 200)

/**
 * Judges each request of a kind. The first that is wrong is shown; the message counts the others.
 *
 * @param what the kind: `call to POST /execute`
 * @param wrongOf undefined: the request is right
 * @throws Untestable when the client sent none: what was not seen is not passed
 * @throws Fault for the first that is wrong
 */
export function judgeEach<Item extends { readonly recorded: Recorded }>(
  t: ClientContext,
  what: string,
  items: readonly Item[],
  wrongOf: (item: Item) => Wrong | undefined,
): void {
  const [first] = items
  if (!first) throw new Untestable(`not seen: the client sent no ${what}`)
  const found = items.flatMap((item) => {
    const wrong = wrongOf(item)
    return wrong ? [{ ...wrong, item }] : []
  })
  const [worst] = found
  if (!worst) return t.show(first.recorded)
  const { message, expected, actual, item } = worst
  const others = found.length > 1 ? ` (and ${found.length - 1} more of ${items.length})` : ''
  throw new Fault(`${message}${others}`, { expected, actual, answer: item.recorded.answer })
}
