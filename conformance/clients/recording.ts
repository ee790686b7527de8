import type { ClauseId } from '../../specs/index.ts'
import type { AlteredRequest, AlteredResponse } from '../altered/define.ts'
import type { Answer } from '../lib/answer.ts'
import type { QuotaReading } from '../lib/relay/message.ts'

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
