import type { ClauseNeed } from '../../specs/index.ts'
import type { ChainTruth } from './chain-truth.ts'
import type { CheckContext, FuzzOptions } from './clause.ts'
import { createEndpoint, createRelayTarget, createRpcTarget, type EndpointState } from './endpoint.ts'
import type { Fixture } from './fixture.ts'
import type { HttpClient } from './http.ts'
import type { WayOfPaging } from './options.ts'
import { type Fault, Untestable } from './outcome.ts'
import type { Patience, SpendingAccount } from './limits.ts'
import type { CheckError, CheckResult, Edition, Exchange } from './report-types.ts'
import type { AdjustableClock } from './target-clock.ts'
import { beganWith, inScope, missingInRecord, missInRecord } from './world.ts'

/** What all checks of a run share. */
export interface Environment {
  readonly edition: Edition
  readonly http: HttpClient
  readonly endpoints: {
    readonly execute: EndpointState
    readonly quota: EndpointState
    readonly rpc: EndpointState
    /** Another path below the relay's URL; undefined: the run leaves the relay out. */
    at(path: string): EndpointState | undefined
  }
  readonly chain: ChainTruth
  /** The fixture, or why there is none. */
  readonly fixture: Fixture | { readonly missing: string }
  readonly hasChain: boolean
  readonly patience: Patience
  readonly clock: AdjustableClock
  readonly spending: SpendingAccount
  /** How the target takes the pagination options of eth_getLogs; undefined: the checks find it out. */
  readonly paging: WayOfPaging | undefined
  /** What checks saw against clauses other than their own. */
  readonly evidence: Evidence
  readonly fuzz: FuzzOptions
  /** What a reader must know of the whole run. */
  readonly notes: string[]
  /** Results of `once` by key. */
  readonly shared: Map<string, Promise<Shared>>
  nextRpcId: number
}

interface Shared {
  readonly outcome: { readonly value: unknown } | { readonly error: unknown }
  readonly exchanges: readonly Exchange[]
  readonly observations: readonly string[]
  readonly accusations: readonly Fault[]
  /** What the record of the run does not have of this work. */
  readonly missing: string | undefined
}

/** What a check leaves behind: exchanges, observations and faults. */
export interface CheckRecord {
  readonly exchanges: Exchange[]
  readonly observations: string[]
  /** Faults that did not end the check. */
  readonly accusations: Fault[]
}

/** @throws Untestable for the first need that is not met */
export function requireNeeds(needs: readonly ClauseNeed[], t: CheckContext): void {
  if (needs.includes('fixture')) void t.fixture.profile
  if (needs.includes('chain')) void t.chain.chainId
  if (needs.includes('spend')) t.spending.ask()
}

/** Takes up the ids of requests where the record of this check, or of shared work, begins. */
export function beginScope(environment: Environment): void {
  environment.nextRpcId = beganWith(environment.nextRpcId)
}

/** The context of one check. */
export function createContext(environment: Environment, clause: string, record: CheckRecord): CheckContext {
  const { endpoints } = environment
  const keep = (exchange: Exchange): void => void record.exchanges.push(exchange)
  const context: CheckContext = {
    edition: environment.edition,
    relay: createRelayTarget(
      createEndpoint(environment, endpoints.execute, keep),
      createEndpoint(environment, endpoints.quota, keep),
    ),
    at(path) {
      const state = endpoints.at(path)
      if (!state) throw new Untestable('the run leaves the relay out')
      return createEndpoint(environment, state, keep)
    },
    rpc: createRpcTarget(createEndpoint(environment, endpoints.rpc, keep), () => environment.nextRpcId++),
    chain: environment.chain,
    hasChain: environment.hasChain,
    hasFixture: !('missing' in environment.fixture),
    patience: environment.patience,
    get fixture() {
      if ('missing' in environment.fixture) throw new Untestable(environment.fixture.missing)
      return environment.fixture
    },
    clock: environment.clock,
    spending: environment.spending.of(clause),
    fuzz: environment.fuzz,
    async aside(work) {
      const own: CheckRecord = { ...record, exchanges: [] }
      const keep = (): void => void record.exchanges.push(...own.exchanges)
      try {
        await work(createContext(environment, clause, own))
        return { keep }
      } catch (error) {
        return { error, keep }
      }
    },
    paging: environment.paging,
    note: (text) => void (environment.notes.includes(text) || environment.notes.push(text)),
    observe: (text) => void record.observations.push(text),
    accuse: (fault) => void record.accusations.push(fault),
    async once<T>(key: string, make: (t: CheckContext) => Promise<T>): Promise<T> {
      const shared = await (environment.shared.get(key) ?? share(key, make))
      record.exchanges.push(...shared.exchanges)
      record.observations.push(...shared.observations)
      record.accusations.push(...shared.accusations)
      missInRecord(shared.missing)
      if ('error' in shared.outcome) throw shared.outcome.error
      return shared.outcome.value as T
    },
  }

  function share(key: string, make: (t: CheckContext) => Promise<unknown>): Promise<Shared> {
    const own: CheckRecord = { exchanges: [], observations: [], accusations: [] }
    const made = inScope(`once ${key}`, async (): Promise<Shared> => {
      beginScope(environment)
      try {
        const value = await make(createContext(environment, clause, own))
        return { outcome: { value }, ...own, missing: missingInRecord() }
      } catch (error) {
        return { outcome: { error }, ...own, missing: missingInRecord() }
      }
    })
    environment.shared.set(key, made)
    return made
  }
  return context
}

/** The report shows at most this many pieces of evidence against one clause. */
const shownOfClause = 3

/** The check that saw something against another clause. */
interface Place {
  readonly id: string
  readonly title: string
}

/** Collects what the checks of some clauses show against others, so that all that a run saw judges each sentence. */
interface Evidence {
  /** Adds a fault whose `of` is not the clause that was being checked. */
  add(fault: Fault, place: Place, error: CheckError, exchanges: readonly Exchange[]): void
  /**
   * The evidence as failed checks of the clauses that it speaks against.
   *
   * @param isSaid whether a check of the clause itself has failed with this message; the evidence then does not
   * repeat it
   */
  charges(isSaid: (id: string, message: string) => boolean): { readonly id: string; readonly result: CheckResult }[]
}

export function createEvidence(): Evidence {
  /** Work that checks share throws the same fault at each of them. The set keeps it from counting twice. */
  const seen = new Set<Fault>()
  const charged: { id: string; result: CheckResult }[] = []
  return {
    add(fault, place, error, exchanges) {
      if (fault.of === undefined || seen.has(fault)) return
      seen.add(fault)
      const title = `seen while ${place.id} was checked (${place.title})`
      charged.push({
        id: fault.of,
        result: { title, status: 'failed', durationMs: 0, error, exchanges: [...exchanges] },
      })
    },
    charges(isSaid) {
      const shown: typeof charged = []
      for (const charge of charged) {
        const { id, result } = charge
        const message = result.error?.message ?? ''
        const others = shown.filter((other) => other.id === id)
        const isNew = !isSaid(id, message) && !others.some(({ result: { error } }) => error?.message === message)
        if (isNew && others.length < shownOfClause) shown.push(charge)
      }
      return shown
    },
  }
}
