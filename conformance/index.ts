import { type ClauseId, clauses, currentRequirements, packageVersion } from '../specs/index.ts'
import { type ChainTruth } from './lib/chain-truth.ts'
import type { ClauseSuite } from './lib/clause.ts'
import { relayBaseOf } from './lib/editions.ts'
import type { Environment } from './lib/environment.ts'
import { createEvidence } from './lib/evidence.ts'
import { applyExpectedFailures, type ExpectedFailure, expectedFrom } from './lib/expected-failures.ts'
import type { Fixture } from './lib/fixture.ts'
import { createHttpClient, type HttpClient } from './lib/http.ts'
import { createPatience } from './lib/patience.ts'
import { probe, chainOf, fixtureOf } from './lib/preflight.ts'
import { createRecorder, type RecordedRun, type Recording } from './lib/recording.ts'
import { recordedOptions, recordedReport } from './lib/recorded-report.ts'
import { isSecret, redactUrl, withoutSecrets } from './lib/redact.ts'
import type { CheckResult, Edition, Plan, Progress, Report } from './lib/report-types.ts'
import { ofRequirements } from './lib/requirements.ts'
import { runSuites } from './lib/run-suites.ts'
import { createSpending } from './lib/spending.ts'
import { isSelected, loadSuites, ofChecks, planOf } from './lib/suites.ts'
import { createTargetClock } from './lib/target-clock.ts'
import { endpointsOf, normaliseTarget } from './lib/target.ts'
import { UsageError } from './lib/usage-error.ts'
import { findCauses, countByLevel, verdictOf, clauseResult } from './lib/verdict.ts'
import { parseWayOfPaging } from './lib/options.ts'
import { describeTransactions } from './lib/relay/receipt.ts'
import { inWorld, ourTimeMs } from './lib/world.ts'

export type { Fixture } from './lib/fixture.ts'
export type * from './lib/report-types.ts'
export { UsageError } from './lib/usage-error.ts'
export { exitCodeOf } from './lib/verdict.ts'

export interface CheckOptions {
  /** {relay_url}: where POST /execute and POST /quota are; null leaves the document out. */
  readonly relayUrl: string | null
  /** {base_url} of POST /api/eth-rpc; absent: the relay's; null leaves the document out. */
  readonly ethRpcUrl?: string | null
  /** Absent: clauses that need a profile are untestable. */
  readonly fixture?: Fixture
  /** A node of the target's chain; absent: the fixture's. */
  readonly rpcUrl?: string
  /** Absent: `documents`. */
  readonly edition?: Edition
  /**
   * The set of requirements to judge by, as `2026-11`. Absent: every clause of this version; the newest set holds those
   * that decide the verdict.
   */
  readonly requirements?: string
  /** Clause ids, or the beginnings of ids, separated by commas. */
  readonly only?: string
  /** The titles of the checks to make, by clause; absent: all that `requirements` and `only` leave. */
  readonly checks?: Readonly<Record<string, readonly string[]>>
  /** The run sends nothing that could spend. */
  readonly readOnly?: boolean
  /** How many transactions the run may cause; absent: 200. */
  readonly maxTransactions?: number
  /** How many random cases each property gets, and the seed that they follow from; absent: none. */
  readonly fuzz?: { readonly cases: number; readonly seed: number }
  /** How long to wait for each answer of the target; absent: 10,000. */
  readonly timeoutMs?: number
  /** How long to wait until a transaction is mined; absent: 60,000. */
  readonly receiptTimeoutMs?: number
  /** How long to wait for all rate limits of the run together; absent: 600,000. */
  readonly rateLimitTimeoutMs?: number
  /** How long to wait until a target that died listens again; absent: 5,000. */
  readonly restartTimeoutMs?: number
  /**
   * How long to wait, at the end of the run, between the last call that must not be executed and the last look for
   * its effect; absent: 0.
   */
  readonly lingerMs?: number
  /**
   * How the target takes the pagination options of eth_getLogs, `<container>[:<third key>]`. The document shows
   * neither. Absent: the run finds it out.
   */
  readonly paging?: string
  /**
   * Sent with each request to the target; names in lower case. No report shows their values. With such headers the
   * run does not judge the clauses that no credential is asked for.
   */
  readonly headers?: Readonly<Record<string, string>>
  /** Ends the run after the first required clause that fails unexpectedly. */
  readonly bail?: boolean
  /** Ends the run after the present check. The run judges what it found by then. */
  readonly signal?: AbortSignal
  readonly expectedFailures?: readonly ExpectedFailure[]
  /** Takes every failure for expected: `--write-expected-failures` writes them down. */
  readonly acceptFailures?: boolean
  readonly progress?: Progress
  /** The report holds every question and answer of the run, signatures included, so that they can be judged again. */
  readonly record?: boolean
}

const defaultMaxTransactions = 200
const defaultTimeoutMs = 10_000
const defaultReceiptTimeoutMs = 60_000
/** A run whose requests bear a credential cannot see what these clauses say. */
const aboutCredentials: ReadonlySet<ClauseId> = new Set([
  'relay.auth.no-other-credential',
  'relay.execute.signature-authenticates',
])

/** A value without the secrets of the run: a hostile target may echo what it is sent, or what it knows. */
function cleaned<Value>(value: Value, { fixture, headers = {} }: CheckOptions): Value {
  const keys = [...Object.values(fixture?.controllers ?? {}), ...(fixture?.funder ? [fixture.funder] : [])]
  // A credential may have parts: a scheme, or a user and a password.
  const parts = Object.values(headers).flatMap((value) => value.split(/[\s,;]+/))
  return withoutSecrets(
    value,
    parts.filter(isSecret),
    keys.map(({ privateKey }) => privateKey).filter((privateKey) => privateKey !== ''),
  )
}

function countUnmade(suites: readonly ClauseSuite[], made: ReadonlyMap<ClauseId, readonly CheckResult[]>): number {
  return suites.reduce((sum, { id, checks }) => sum + Math.max(0, checks.length - (made.get(id)?.length ?? 0)), 0)
}

/** The result of a check whose target answers every request alike. It neither accuses nor praises the target. */
function withdrawn({ title, durationMs, exchanges }: CheckResult, reason: string): CheckResult {
  return { title, status: 'untestable', reason, durationMs, exchanges: exchanges.slice(0, 1) }
}

/** The chain's id, and what its node calls itself if it says so. */
async function factsOf(chain: ChainTruth): Promise<NonNullable<Report['chain']>> {
  const node = await chain.send('web3_clientVersion').catch(() => undefined)
  return { chainId: Number(chain.chainId), ...(typeof node === 'string' ? { node } : {}) }
}

interface Selection {
  /** `relayUrl` and `ethRpcUrl` are in their normal form. */
  readonly relayUrl: string | null
  readonly ethRpcUrl: string | null
  readonly suites: readonly ClauseSuite[]
  readonly plan: Plan
}

/** Whether the run checks the clause. Clauses that need random requests belong to runs with such. */
function isRun(id: ClauseId, { fuzz }: CheckOptions): boolean {
  return fuzz !== undefined || !clauses[id].needs.includes('fuzz')
}

/** @throws UsageError when a URL is none, and when `only` names no clause of the target */
async function select(options: CheckOptions): Promise<Selection> {
  const { edition = 'documents', only = null, readOnly = false, maxTransactions = defaultMaxTransactions } = options
  const { relayUrl, ethRpcUrl } = normaliseTarget({
    relayUrl: options.relayUrl,
    ethRpcUrl: options.ethRpcUrl === undefined ? options.relayUrl : options.ethRpcUrl,
  })
  const base = relayUrl && relayBaseOf(relayUrl, edition)
  const judged = { relay: relayUrl !== null, 'eth-rpc': ethRpcUrl !== null, client: false }
  const loaded = ofRequirements(await loadSuites(), options.requirements)
  const suites = (options.checks ? ofChecks(loaded, options.checks) : loaded).filter(
    ({ id }) => judged[clauses[id].document] && isSelected(id, only) && isRun(id, options),
  )
  const unknown = only?.split(',').find((name) => !suites.some(({ id }) => isSelected(id, name)))
  if (unknown !== undefined) throw new UsageError(`no clause of the target is named ${unknown}`)
  const target = { relayUrl: base && redactUrl(base), ethRpcUrl: ethRpcUrl && redactUrl(ethRpcUrl) }
  const spends = options.fixture !== undefined && !readOnly
  return {
    relayUrl: base,
    ethRpcUrl,
    suites,
    plan: planOf(suites, { target, edition, maxTransactions: spends ? maxTransactions : 0 }),
  }
}

/**
 * What `check` would do with these options, and what the run may cost the relay. Sends nothing.
 *
 * @throws UsageError
 */
export async function planCheck(options: CheckOptions): Promise<Plan> {
  return (await select(options)).plan
}

/**
 * Makes sure that the target answers, and creates what all checks share.
 *
 * @throws UsageError
 */
async function prepare(options: CheckOptions, selection: Selection, http: HttpClient): Promise<Environment> {
  const paging = options.paging === undefined ? undefined : parseWayOfPaging(options.paging)
  const target = { relayUrl: selection.relayUrl, ethRpcUrl: selection.ethRpcUrl }
  const clock = createTargetClock()
  await probe(http, target, clock)
  const notes: string[] = []
  const { chain, hasChain } = await chainOf(options, notes)
  const { readOnly = false, maxTransactions = defaultMaxTransactions } = options
  return {
    edition: options.edition ?? 'documents',
    http,
    endpoints: endpointsOf(target),
    chain,
    hasChain,
    fixture: await fixtureOf(options, chain, hasChain, notes),
    patience: createPatience({
      receiptMs: options.receiptTimeoutMs ?? defaultReceiptTimeoutMs,
      rateLimitMs: options.rateLimitTimeoutMs ?? 600_000,
      restartMs: options.restartTimeoutMs ?? 5000,
      lingerMs: options.lingerMs ?? 0,
    }),
    clock,
    spending: createSpending({ readOnly, maxTransactions }),
    paging,
    evidence: createEvidence(),
    notes,
    fuzz: options.fuzz ?? { cases: 0, seed: 0 },
    shared: new Map(),
    nextRpcId: 1,
  }
}

type Results = ReadonlyMap<ClauseId, readonly CheckResult[]>

interface Ran {
  readonly tests: Results
  /** How many checks were made. */
  readonly made: number
}

/** Runs the checks until they are done or the run ends, and charges evidence to the clauses that it speaks against. */
async function runAll(options: CheckOptions, { suites }: Selection, environment: Environment): Promise<Ran> {
  const { bail = false, signal, progress } = options
  const { http, edition, evidence, notes } = environment
  const tests = new Map<ClauseId, CheckResult[]>(suites.map(({ id }) => [id, []]))
  const isExpected = new Set(options.expectedFailures?.map(({ id }) => id))
  let failedFirst: ClauseId | undefined
  const checked = (id: ClauseId, result: CheckResult): void => {
    tests.get(id)?.push(result)
    if (result.status === 'failed' && clauses[id].level === 'required' && !isExpected.has(id)) failedFirst ??= id
    progress?.checked?.(clauseResult(id, [], edition), result)
  }
  const whyStopped = (): string | undefined => {
    if (signal?.aborted) return 'the run was interrupted'
    return bail && failedFirst !== undefined ? `--bail: the run ended with ${failedFirst}` : undefined
  }
  await runSuites(suites, environment, checked, () => http.census.isHopeless() || whyStopped() !== undefined)
  const made = [...tests.values()].reduce((sum, results) => sum + results.length, 0)
  const stopped = whyStopped()
  if (stopped !== undefined) notes.push(`${stopped}; ${countUnmade(suites, tests)} checks were not made`)
  const isSaid = (id: ClauseId, message: string): boolean =>
    tests.get(id)?.some(({ error }) => error?.message === message) ?? false
  for (const { id, result } of evidence.charges(isSaid)) if (tests.has(id)) checked(id, result)
  return { tests, made }
}

/** The results of the clauses. A check that could not see what its clause says is untestable. */
function judgedClauses(
  { suites }: Selection,
  { headers = {} }: CheckOptions,
  environment: Environment,
  tests: Results,
) {
  const uniform = environment.http.census.uniform()
  const hasOwnHeaders = Object.keys(headers).length > 0
  return suites.map(({ id }) => {
    const isHidden = hasOwnHeaders && aboutCredentials.has(id)
    const reason = uniform ?? (isHidden ? 'each request bore headers of the run (--header)' : undefined)
    const isWithdrawn = ({ status }: CheckResult) => uniform !== undefined || status === 'passed'
    const results = (tests.get(id) ?? []).map((result) =>
      reason !== undefined && isWithdrawn(result) ? withdrawn(result, reason) : result,
    )
    return clauseResult(id, results, environment.edition)
  })
}

async function reportOf(
  options: CheckOptions,
  selection: Selection,
  environment: Environment,
  tests: Results,
  startMs: number,
): Promise<Report> {
  const { timeoutMs = defaultTimeoutMs, receiptTimeoutMs = defaultReceiptTimeoutMs } = options
  const { only = null, readOnly = false, maxTransactions = defaultMaxTransactions, fuzz } = options
  const { http, clock, chain, hasChain, spending, notes, edition } = environment
  const { plan, relayUrl, ethRpcUrl } = selection
  const uniform = http.census.uniform()
  if (uniform !== undefined) notes.unshift(uniform)
  const found = judgedClauses(selection, options, environment, tests)
  const expected = options.acceptFailures ? expectedFrom(found) : (options.expectedFailures ?? [])
  const { results, stale } = applyExpectedFailures(found, expected)
  const isPart = only !== null || readOnly || relayUrl === null || ethRpcUrl === null
  const { requests, timeouts, unanswered } = http.traffic
  return {
    suite: {
      name: 'touchstone',
      version: packageVersion(),
      edition,
      requirements: options.requirements ?? currentRequirements,
    },
    target: plan.target,
    startedAt: new Date(startMs).toISOString(),
    durationMs: Math.round(ourTimeMs() - startMs),
    verdict: uniform === undefined ? verdictOf(results, isPart) : 'error',
    summary: { ...countByLevel(results), ofRequired: plan.ofRequired },
    causes: findCauses(results),
    clauses: results,
    options: { timeoutMs, receiptTimeoutMs, maxTransactions, readOnly, only, ...(fuzz ? { fuzz } : {}) },
    ...(clock.measuredBy ? { clock: { offsetSeconds: clock.offsetSeconds, measuredBy: clock.measuredBy } } : {}),
    traffic: { requests, timeouts, unanswered },
    transactions: await describeTransactions(chain, spending.transactions),
    ...(hasChain ? { chain: await factsOf(chain) } : {}),
    ...(options.fixture ? { profile: options.fixture.profile } : {}),
    ...(options.expectedFailures ? { staleExpectedFailures: stale } : {}),
    notes,
  }
}

/**
 * Checks a target and returns the report.
 *
 * @throws UsageError for wrong options, and when the target does not answer
 *
 * @example
 * const report = await check({ relayUrl: 'http://127.0.0.1:3000', fixture })
 * if (report.verdict !== 'conformant') process.exitCode = 1
 */
export function check(options: CheckOptions): Promise<Report> {
  if (!options.record) return judge(options)
  const { world, run } = createRecorder('run')
  return inWorld(world, () => judge(options, run))
}

async function judge(options: CheckOptions, run?: RecordedRun): Promise<Report> {
  const selection = await select(options)
  const startMs = ourTimeMs()
  const http = createHttpClient(options.timeoutMs ?? defaultTimeoutMs, options.headers)
  try {
    const environment = await prepare(options, selection, http)
    options.progress?.started?.(selection.plan)
    const { tests, made } = await runAll(options, selection, environment)
    const interruptedAfter = options.signal?.aborted ? { interruptedAfter: made } : {}
    const judged = cleaned(await reportOf(options, selection, environment, tests, startMs), options)
    const report = run
      ? recordedReport(judged, { ...recordingOf(options, selection, run), ...interruptedAfter }, options.fixture)
      : judged
    options.progress?.finished?.(report)
    return report
  } finally {
    await http.close()
  }
}

/** The recording of a run, without keys and credentials, which the target may have echoed. */
function recordingOf(options: CheckOptions, { suites, plan }: Selection, run: RecordedRun): Recording {
  const clean = cleaned(run, options)
  const isAltered = JSON.stringify(clean) !== JSON.stringify(run)
  const checks = Object.fromEntries(suites.map(({ id, checks }) => [id, checks.map(({ title }) => title)]))
  return {
    ...clean,
    options: recordedOptions({ ...options, ...plan.target, checks }),
    ...(isAltered ? { isAltered } : {}),
  }
}
