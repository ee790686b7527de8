import type { ClauseId } from '../../specs/index.ts'
import type { AlteredRequest, AlteredResponse } from '../altered/define.ts'
import type { Answer } from '../lib/answer.ts'
import { stringify } from '../lib/lossless-json.ts'
import { Fault, Untestable } from '../lib/outcome.ts'
import type { QuotaReading } from '../lib/relay/message.ts'
import type { Edition } from '../lib/report-types.ts'

/**
 * What the judging relay does with a call that the reference server would serve. A relay may do each of these, since
 * the documents show no errors and no rate limits.
 *
 * - `lost`: the call is relayed, and the connection is closed without an answer
 * - `busy`: 429 with Retry-After, and the call is not relayed
 * - `broadcast`: the call is relayed, and the answer is a 503 that says `broadcast: true`
 * - `refused`: 503 that says `broadcast: false`, and the call is not relayed
 */
export const provocations = ['lost', 'busy', 'broadcast', 'refused'] as const
export type Provocation = (typeof provocations)[number]
/** What is done with a new call. */
export type Step = Provocation | 'served'

/** What a signature is over, where it is not the message of the documents, and the clause that says so. */
export interface Instead {
  readonly clause: ClauseId
  /** `the digest as a personal message (EIP-191)` */
  readonly what: string
}

/** What the chain knew about a call when it arrived. */
export interface CallFacts {
  /** Of the profile at `address`; absent: no profile with an owner is there. */
  readonly keyManager?: string
  /** The controller of the profile whose signature it is, over the message of LSP25 or over another one. */
  readonly signer?: string
  /** Absent: the message is right, or the signature is nobody's. */
  readonly instead?: Instead
  /** What the key manager tells for the signer in the channel of the nonce; absent without signer or nonce. */
  readonly nextNonce?: bigint
  /** Time of the head, in Unix seconds. */
  readonly chainSeconds: number
}

/** What the chain knew about a request for the quota when it arrived. */
export interface QuotaFacts {
  /** As in {@link CallFacts}. */
  readonly signer?: string
  readonly instead?: Instead
  /** Which of the messages that relays are known to take was signed; absent: none of them. */
  readonly reading?: QuotaReading
  /** Whether the signer holds SIGN. */
  readonly holdsSign: boolean
}

/** One request of the client, and what it was answered. */
export interface Recorded {
  readonly request: AlteredRequest
  /** Unix milliseconds. */
  readonly arrivedMs: number
  /** Unix milliseconds, when the answer left or the connection was closed. */
  readonly answeredMs: number
  /** As the client got it. */
  readonly answer: Answer
  readonly provoked?: Provocation
  /** What the reference server answered. Absent: it was not asked. */
  readonly served?: AlteredResponse
  /** The head of the chain when the answer left. */
  readonly headBlock: number
  /** Of POST /execute. */
  readonly call?: CallFacts
  /** Of POST /quota. */
  readonly quota?: QuotaFacts
}

/** A payload that a profile executed in a transaction without a relay call. */
export interface DirectExecution {
  readonly transactionHash: string
  readonly blockNumber: number
  readonly payload: string
}

/** Everything that a client did. The checks judge it when the client has ended. */
export interface Recording {
  /** In the order of their arrival. */
  readonly requests: readonly Recorded[]
  readonly directExecutions: readonly DirectExecution[]
  /** Hashes of relayed transactions that are mined and succeeded, as nodes write them. */
  readonly executed: ReadonlySet<string>
  /** Private keys that the client was given. */
  readonly privateKeys: readonly string[]
  /** Why the client was ended before it was done; absent: it ended by itself. */
  readonly cutShort?: string
}

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
