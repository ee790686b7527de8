import type { ChainTruth } from './chain-truth.ts'
import type { Fixture } from './fixture.ts'
import type { Fault } from './outcome.ts'
import type { Patience } from './patience.ts'
import type { Edition } from './report-types.ts'
import type { Spending } from './spending.ts'
import type { AdjustableClock } from './target-clock.ts'
import type { WayOfPaging } from './options.ts'
import type { Endpoint, RelayTarget, RpcTarget } from './endpoint.ts'

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
