import type { Clause, ClauseLevel } from '../../specs/index.ts'

/**
 * Whose reading is judged. `documents`: the two documents as they are. `lip`: the public text of LSP15, with a quota window of
 * 300 s. `lukso-2026-02`: the page of LUKSO's relay service of February 2026, with the quota message as a text and paths below
 * `/api`.
 */
export const editions = ['documents', 'lip', 'lukso-2026-02'] as const

export type Edition = (typeof editions)[number]

/** `observed` is the outcome of a question about what the documents leave open. It has no verdict. */
export type CheckStatus = 'passed' | 'failed' | 'untestable' | 'observed'

/**
 * What the run says of the target.
 *
 * - `conformant`: every required clause of both documents passed
 * - `passed`: only a part was selected, and every selected required clause passed
 * - `nonconformant`: a required clause failed, expected or not
 * - `partial`: no required clause failed, but a required clause was untestable or no required clause ran
 * - `error`: the suite could not judge
 */
export type Verdict = 'conformant' | 'passed' | 'nonconformant' | 'partial' | 'error'

/** A request as the report records it: credentials and signatures are shortened. */
export interface RecordedRequest {
  readonly method: string
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  /** The raw text; absent: no body. */
  readonly body?: string
}

/** An answer as raw text. */
export interface RecordedResponse {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
  /** The body was longer than the part that the report keeps. */
  readonly truncated?: boolean
}

/** Why a request got no answer. */
export interface ExchangeFailure {
  /**
   * `closed`: the target closed the connection; `died`: it closed the connection, and nobody listens there any more.
   */
  readonly kind: 'timeout' | 'refused' | 'closed' | 'died' | 'tls' | 'dns' | 'other'
  readonly message: string
}

/** One request and its answer. Either `response` or `failure` is there. */
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
  /**
   * The index of the exchange that shows the fault, from zero; absent: no single exchange shows it, or it is not
   * known.
   */
  readonly exchange?: number
}

/** One check of a clause. */
export interface CheckResult {
  readonly title: string
  readonly status: CheckStatus
  readonly durationMs: number
  /** Why a failed check failed. */
  readonly error?: CheckError
  /** Why an untestable check could not judge. */
  readonly reason?: string
  /** The clause whose failure made the check untestable. */
  readonly because?: string
  /** What the check saw and does not judge. */
  readonly observations?: readonly string[]
  readonly exchanges: readonly Exchange[]
}

/** What the file of expected failures says of a clause. */
export interface KnownFailure {
  readonly id: string
  readonly reason: string
  readonly link?: string
}

/** A clause and its checks. */
export interface ClauseResult {
  readonly id: string
  /** `extension`: the sentence is of a suite of somebody else. */
  readonly document: Clause['document'] | 'extension'
  readonly level: ClauseLevel
  /** Sections of the document. */
  readonly section: string
  /** The sentence of the edition that was checked. */
  readonly text: string
  /**
   * `failed` counts before `untestable`, and `untestable` before `passed`. An unspecified clause is `observed` or
   * `untestable`.
   */
  readonly status: CheckStatus
  /** All observations of the checks, joined by "; ". */
  readonly observation?: string
  /** The entry that expected the failure. */
  readonly known?: KnownFailure
  readonly tests: readonly CheckResult[]
}

/** A transaction that the target said it sent because of this run. */
export interface CausedTransaction {
  readonly hash: string
  /** The clause whose check asked for it. */
  readonly clause: string
  /** Absent: the run could not ask the chain. */
  readonly status?: 'succeeded' | 'reverted' | 'not found'
  /** Decimal. */
  readonly gasUsed?: string
  /** Decimal, in wei: what the sender of the transaction paid. */
  readonly feeWei?: string
}

/** What a suite of somebody else says of the extensions of the target. It decides nothing of the two documents. */
export interface SuiteReport {
  /** The ids of its clauses begin with it. */
  readonly prefix: string
  readonly title: string
  /** The package or the file, as the run was told. */
  readonly source: string
  /** Of the package; absent: a file. */
  readonly version?: string
  readonly summary: Pick<Report['summary'], 'required' | 'recommended' | 'unspecified'>
  readonly clauses: readonly ClauseResult[]
}

/** A clause that failed, and the clauses that no check could judge because of it. */
export interface Cause {
  readonly clause: string
  readonly notJudged: readonly string[]
}

export interface LevelCounts {
  readonly passed: number
  readonly failed: number
  readonly untestable: number
}

/** The outcome of a run. The JSON report is this object. */
export interface Report {
  readonly suite: {
    readonly name: 'touchstone'
    readonly version: string
    readonly edition: Edition
    /** The set of requirements; absent in reports of version 0.1. */
    readonly requirements?: string
  }
  readonly target: {
    readonly relayUrl: string | null
    readonly ethRpcUrl: string | null
    /** The command of the client that was judged; the URLs are then those that it was given. Absent: a relay was judged. */
    readonly client?: string
  }
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
  /** What the suites of others say; absent: the run had none. */
  readonly suites?: readonly SuiteReport[]
  readonly options: {
    readonly timeoutMs: number
    /** How long to wait until a transaction is mined. */
    readonly receiptTimeoutMs?: number
    readonly maxTransactions?: number
    readonly readOnly: boolean
    /** The random requests of the run; absent: none. */
    readonly fuzz?: { readonly cases: number; readonly seed: number }
    /** Clause id or prefix; null: everything. */
    readonly only: string | null
  }
  /** The target's clock minus the clock of this machine; absent: not measured. */
  readonly clock?: { readonly offsetSeconds: number; readonly measuredBy: 'date header' | 'accepted window' }
  /** Requests to the target, with those that had no answer. */
  readonly traffic: { readonly requests: number; readonly timeouts: number; readonly unanswered: number }
  /** Every transaction that the run caused, in the order of the answers. */
  readonly transactions: readonly CausedTransaction[]
  /** Entries that did not fail, or that name no clause; absent without a file of expected failures. */
  readonly staleExpectedFailures?: readonly { readonly id: string; readonly why: string }[]
  /** The chain's id and the name of its node; absent: the run asked no node. */
  readonly chain?: { readonly chainId: number; readonly node?: string }
  /** The profile that the run was given, and its key manager; absent: none. */
  readonly profile?: { readonly address: string; readonly keyManager: string }
  /** Why the suite could not judge, or judged only a part: for example, no fixture. */
  readonly notes: readonly string[]
  /** Every question of the run and its answer, packed (`lib/recording.ts`); absent: the run was not recorded. */
  readonly recording?: string
  /** `digestOf` the report; absent: the run was not recorded. */
  readonly digest?: string
  /** The signature of the fixture's controller `full` over `sealText` of the digest; absent: no record, or no fixture. */
  readonly signature?: string
}

/** A reporter that shows progress. The run calls these functions in this order. */
export interface Progress {
  /** Called before the first check. */
  started?(plan: Plan): void
  /** Called after each check. */
  checked?(clause: Pick<ClauseResult, 'id' | 'document' | 'level' | 'section' | 'text'>, check: CheckResult): void
  /** Called after the last check. */
  finished?(report: Report): void
}

/** What a run is going to do. The run says it before it sends anything. */
export interface Plan {
  readonly target: Report['target']
  readonly edition: Edition
  readonly checks: number
  /** How many required clauses are selected, of how many. */
  readonly required: number
  readonly ofRequired: number
  /** How many relay calls the target may have to send: about one for each check that spends. */
  readonly transactions: number
  /** About how much gas these calls cost the relay. */
  readonly gas: number
}
