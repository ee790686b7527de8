import type { ChainTruth } from './chain-truth.ts'
import type { Fixture } from './fixture.ts'
import type { Fault } from './outcome.ts'
import type { Patience } from './patience.ts'
import type { Edition } from './report-types.ts'
import type { Spending } from './spending.ts'
import type { AdjustableClock } from './target-clock.ts'
import type { WayOfPaging } from './options.ts'
import type { RelayTarget, RpcTarget } from './endpoint.ts'

/** Random requests, beside the fixed ones. */
export interface FuzzOptions {
  readonly cases: number
  readonly seed: number
}

/** What a check works with. Every request through it is recorded in the report under the check. */
export interface CheckContext {
  readonly edition: Edition
  /** POST /execute and POST /quota of the target. */
  readonly relay: RelayTarget
  /** POST /api/eth-rpc of the target. */
  readonly rpc: RpcTarget
  /** A node of our own choice: the truth to compare with. Its failures are Untestable, never the target's. */
  readonly chain: ChainTruth
  /** @throws Untestable when there is none */
  readonly fixture: Fixture
  readonly hasChain: boolean
  readonly hasFixture: boolean
  /** How long to wait for transactions. */
  readonly patience: Patience
  readonly clock: AdjustableClock
  readonly spending: Spending
  /** How many random cases, and the seed that they follow from. */
  readonly fuzz: FuzzOptions
  /**
   * Work whose exchanges are recorded only when asked for.
   * @returns what the work threw, if anything, and how to record its exchanges
   */
  aside(work: (t: CheckContext) => Promise<void>): Promise<{ readonly error?: unknown; keep(): void }>
  /** How the target takes the pagination options of eth_getLogs; undefined: to be found out. */
  readonly paging: WayOfPaging | undefined
  /** Says what a reader must know of the whole run, once: a spent quota, a member that is sent to every request. */
  note(text: string): void
  /** Records what is seen and not judged. */
  observe(text: string): void
  /** Hands in what speaks against a clause, this one or the fault's `of`, and lets the check go on. */
  accuse(fault: Fault): void
  /**
   * Work that several checks share, done by the first that asks. Its exchanges appear under each of them.
   * What it throws, it throws at each of them.
   */
  once<T>(key: string, make: (t: CheckContext) => Promise<T>): Promise<T>
}
