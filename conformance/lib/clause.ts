import { type Clause, type ClauseId, type ClauseNeed, clauses } from '../../specs/index.ts'
import type { ChainTruth } from './chain-truth.ts'
import type { Endpoint, RelayTarget, RpcTarget } from './endpoint.ts'
import type { Fixture } from './fixture.ts'
import type { WayOfPaging } from './options.ts'
import type { Fault } from './outcome.ts'
import type { Patience, Spending } from './limits.ts'
import type { Edition } from './report-types.ts'
import type { AdjustableClock } from './target-clock.ts'

/**
 * Makes the requests and judges the answers.
 *
 * @throws Fault or AssertionError when the target is at fault; Untestable when the check cannot judge; anything else
 * is a fault of the suite
 */
export type CheckBody = (t: CheckContext) => Promise<void>

/** One check of a clause, as a suite file writes it. */
export interface CheckDefinition {
  readonly title: string
  /** What the check needs beside the URL; absent: the needs of the clause. */
  readonly needs: readonly ClauseNeed[] | undefined
  /** The run makes this check after all others. */
  readonly isLast?: boolean
  /** The check looks for late effects of what the others sent: the run makes it at its very end, so that it waits once. */
  readonly looksBack?: boolean
  /** The check sends calls, though it needs none: where the run may not spend, it judges nothing. */
  readonly maySpend?: boolean
  readonly body: CheckBody
}

/** The sentence of a clause and what stands with it: of the documents, or of a suite of somebody else. */
export type JudgedClause = Omit<Clause, 'document'> & { readonly document: Clause['document'] | 'extension' }

/** A clause and its checks. A suite file exports a list of these. */
export interface ClauseSuite<Id extends string = string> {
  readonly id: Id
  readonly clause: JudgedClause
  readonly checks: readonly CheckDefinition[]
}

export type CheckSettings = Partial<Pick<CheckDefinition, 'needs' | 'isLast' | 'looksBack' | 'maySpend'>>

/** Adds a check to the clause. */
export interface DefineCheck {
  (title: string, body: CheckBody): void
  (title: string, options: CheckSettings, body: CheckBody): void
}

/**
 * Defines the checks of one clause. This function runs no check.
 *
 * @example
 * export default [
 *   clause('eth-rpc.eth_chainId.success', (check) => {
 *     check('is the id of the chain', { needs: ['chain'] }, async (t) => {
 *       expect(resultOf(await t.rpc.call('eth_chainId'))).to.equal(await t.chain.send('eth_chainId'))
 *     })
 *   }),
 * ]
 */
export function clause(id: ClauseId, define: (check: DefineCheck) => void): ClauseSuite<ClauseId> {
  return { id, clause: clauses[id], checks: checksOf(define) }
}

/** The checks that `define` adds, in their order. */
export function checksOf(define: (check: DefineCheck) => void): CheckDefinition[] {
  const checks: CheckDefinition[] = []
  const add = (title: string, ...rest: [CheckBody] | [CheckSettings, CheckBody]): void => {
    const [options, body] = rest.length === 1 ? [undefined, rest[0]] : rest
    const { needs, isLast = false, looksBack = false, maySpend = false } = options ?? {}
    checks.push({ title, needs, isLast, looksBack, maySpend, body })
  }
  define(add)
  return checks
}

/** How many random requests the run makes in addition to the fixed ones, and the seed that they follow from. */
export interface FuzzOptions {
  readonly cases: number
  readonly seed: number
}

/** What a check works with. The report records every request of the context under the check. */
export interface CheckContext {
  readonly edition: Edition
  /** POST /execute and POST /quota of the target. */
  readonly relay: RelayTarget
  /** POST /api/eth-rpc of the target. */
  readonly rpc: RpcTarget
  /**
   * Another path of the target below the relay's URL: `t.at('/healthz').sendRaw(undefined, { method: 'GET' })`. The documents
   * know none; this is for suites about extensions.
   *
   * @throws Untestable when the run leaves the relay out
   */
  at(path: `/${string}`): Endpoint
  /** A node of the user's choice, whose answers count as the truth. Its failures make a check untestable. */
  readonly chain: ChainTruth
  /** @throws Untestable when there is none */
  readonly fixture: Fixture
  readonly hasChain: boolean
  readonly hasFixture: boolean
  /** How long the run waits for transactions, rate limits and restarts. */
  readonly patience: Patience
  readonly clock: AdjustableClock
  readonly spending: Spending
  readonly fuzz: FuzzOptions
  /**
   * Does some work and records its exchanges only when the caller asks for them.
   *
   * @returns what the work threw, if anything, and `keep`, which records the exchanges
   */
  aside(work: (t: CheckContext) => Promise<void>): Promise<{ readonly error?: unknown; keep(): void }>
  /** How the target takes the pagination options of eth_getLogs; undefined: the checks find it out. */
  readonly paging: WayOfPaging | undefined
  /** Adds a note to the report, once: what a reader must know of the whole run, such as a spent quota. */
  note(text: string): void
  /** Records what the check saw and does not judge. */
  observe(text: string): void
  /**
   * Records a fault against a clause, and lets the check go on. The clause is `of` of the fault, or the one being
   * checked.
   */
  accuse(fault: Fault): void
  /**
   * Returns what several checks share. The first check that asks does the work; each check shows its exchanges and
   * gets what it threw.
   */
  once<T>(key: string, make: (t: CheckContext) => Promise<T>): Promise<T>
}
