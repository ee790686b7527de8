import type { ClauseId, ClauseLevel } from '../../specs/index.ts'

/** `documents`: the two documents as they stand; `lip`: the public LSP15 text (quota window of 300 s). */
export type Edition = 'documents' | 'lip'

/** `observed` is the outcome of a question about what the documents leave open: it has no verdict. */
export type CheckStatus = 'passed' | 'failed' | 'untestable' | 'observed'

/**
 * What the run says of the target.
 *
 * - `conformant`: every required clause of both documents passed
 * - `passed`: only a part was selected, and every selected required clause passed
 * - `nonconformant`: a required clause failed, expected or not
 * - `partial`: nothing failed, but a required clause was untestable or no required clause ran
 * - `error`: the harness could not judge
 */
export type Verdict = 'conformant' | 'passed' | 'nonconformant' | 'partial' | 'error'

/** What was sent. Credentials and signatures are shortened before they are recorded. */
export interface RecordedRequest {
  readonly method: string
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  /** The raw text; absent when there was none. */
  readonly body?: string
}

/** What came back, as raw text, whatever it was. */
export interface RecordedResponse {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
  /** The body was longer than what is kept here. */
  readonly truncated?: boolean
}

/** Why a request got no answer. */
export interface ExchangeFailure {
  /** `closed`: the target closed the connection; `died`: it did, and nobody listens there any more. */
  readonly kind: 'timeout' | 'refused' | 'closed' | 'died' | 'tls' | 'dns' | 'other'
  readonly message: string
}

/** One request and what became of it: exactly one of `response` and `failure` is there. */
export interface Exchange {
  readonly request: RecordedRequest
  readonly response: RecordedResponse | null
  readonly failure?: ExchangeFailure
  readonly durationMs: number
}

/** Why a check failed. */
export interface CheckError {
  readonly message: string
  readonly expected?: string
  readonly actual?: string
  /** Which of the exchanges of the check shows it, counted from zero; absent: none alone, or not known. */
  readonly exchange?: number
}

/** One check of a clause. */
export interface CheckResult {
  readonly title: string
  readonly status: CheckStatus
  readonly durationMs: number
  /** Of a failed check: what was expected and what was there. */
  readonly error?: CheckError
  /** Of an untestable check: why. */
  readonly reason?: string
  /** Of an untestable check: the clause whose failure is the cause. */
  readonly because?: ClauseId
  /** What was seen and is not judged. */
  readonly observations?: readonly string[]
  readonly exchanges: readonly Exchange[]
}

/** What the file of expected failures says of a clause. */
export interface KnownFailure {
  readonly id: ClauseId
  readonly reason: string
  readonly link?: string
}

/** A clause and all of its checks. */
export interface ClauseResult {
  readonly id: ClauseId
  readonly document: 'eth-rpc' | 'relay'
  readonly level: ClauseLevel
  /** Sections of the document. */
  readonly section: string
  /** The sentence, in the edition that was checked. */
  readonly text: string
  /** `failed` before `untestable` before `passed`; for an unspecified clause `observed` or `untestable`. */
  readonly status: CheckStatus
  /** All observations of the checks, joined by "; ". */
  readonly observation?: string
  /** The failure was expected. */
  readonly known?: KnownFailure
  readonly tests: readonly CheckResult[]
}

/** A transaction that the target said it sent because of this run. */
export interface CausedTransaction {
  readonly hash: string
  /** The clause whose check asked for it. */
  readonly clause: ClauseId
  /** Absent when the chain could not be asked or does not have it. */
  readonly status?: 'succeeded' | 'reverted' | 'not found'
  /** Decimal. */
  readonly gasUsed?: string
  /** Decimal, in wei: what the sender of the transaction paid. */
  readonly feeWei?: string
}

/** A clause that failed, and the clauses that could not be judged because of it. */
export interface Cause {
  readonly clause: ClauseId
  readonly notJudged: readonly ClauseId[]
}

export interface LevelCounts {
  readonly passed: number
  readonly failed: number
  readonly untestable: number
}

/** The outcome of a run; the JSON report is this object as it stands. */
export interface Report {
  readonly suite: { readonly name: 'touchstone'; readonly version: string; readonly edition: Edition }
  readonly target: { readonly relayUrl: string | null; readonly ethRpcUrl: string | null }
  /** ISO 8601, UTC. */
  readonly startedAt: string
  readonly durationMs: number
  readonly verdict: Verdict
  readonly summary: {
    readonly required: LevelCounts
    readonly recommended: LevelCounts
    readonly unspecified: { readonly observed: number; readonly untestable: number }
    /** How many required clauses both documents have; absent in reports of version 0.1. */
    readonly ofRequired?: number
  }
  /** Failures that left other clauses without a judgement; absent in reports of version 0.1. */
  readonly causes?: readonly Cause[]
  /** In the order of the documents. */
  readonly clauses: readonly ClauseResult[]
  readonly options: {
    readonly timeoutMs: number
    /** For a transaction to be mined. */
    readonly receiptTimeoutMs?: number
    readonly maxTransactions?: number
    readonly readOnly: boolean
    /** Random requests beside the fixed ones; absent: none. */
    readonly fuzz?: { readonly cases: number; readonly seed: number }
    /** Clause id or prefix; null: everything. */
    readonly only: string | null
  }
  /** The target's clock minus ours; absent: not measured. */
  readonly clock?: { readonly offsetSeconds: number; readonly measuredBy: 'date header' | 'accepted window' }
  /** Requests to the target, unanswered ones among them. */
  readonly traffic: { readonly requests: number; readonly timeouts: number; readonly unanswered: number }
  /** Every transaction that the run caused, in the order of the answers. */
  readonly transactions: readonly CausedTransaction[]
  /** Only with a file of expected failures: entries that did not fail, or that name no clause. */
  readonly staleExpectedFailures?: readonly { readonly id: string; readonly why: string }[]
  /** The chain's id as its node says, and what the node calls itself; absent: no node was asked. */
  readonly chain?: { readonly chainId: number; readonly node?: string }
  /** The profile that the run was given, and its key manager; absent: none. */
  readonly profile?: { readonly address: string; readonly keyManager: string }
  /** Why the harness could not judge, or judged only a part: chain not reachable, no fixture. */
  readonly notes: readonly string[]
}

/** What a reporter that shows progress is told, in this order. */
export interface Progress {
  /** Before the first check. */
  started?(plan: Plan): void
  /** After each check. */
  checked?(clause: Pick<ClauseResult, 'id' | 'document' | 'level' | 'section' | 'text'>, check: CheckResult): void
  /** After the last check. */
  finished?(report: Report): void
}

/** What a run is going to do, said before anything is sent. */
export interface Plan {
  readonly target: Report['target']
  readonly edition: Edition
  readonly checks: number
  /** Required clauses that are selected, and of how many. */
  readonly required: number
  readonly ofRequired: number
  /** The relay calls that a target may be made to send: about one for each check that spends. */
  readonly transactions: number
  /** What they cost the relay, about. */
  readonly gas: number
}
