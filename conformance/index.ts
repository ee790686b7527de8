import { type ClauseId, currentRequirements, insteadOf, packageVersion } from '../specs/index.ts'
import { type ChainTruth } from './lib/chain-truth.ts'
import type { CheckDefinition, ClauseSuite } from './lib/clause.ts'
import { endpointsOf, normaliseTarget, parseHttpUrl, relayBaseOf, withoutUser } from './lib/target.ts'
import { createEvidence, type Environment } from './lib/environment.ts'
import {
  applyExpectedFailures,
  clauseResult,
  countByLevel,
  type ExpectedFailure,
  expectedFrom,
  findCauses,
  verdictOf,
} from './lib/verdict.ts'
import type { Fixture } from './lib/fixture.ts'
import { authorizationOf, createHttpClient, type HttpClient } from './lib/http.ts'
import { createPatience, createSpending } from './lib/limits.ts'
import { probe, chainOf, fixtureOf } from './lib/preflight.ts'
import { createRecorder, recordedOptions, recordedReport, type RecordedRun, type Recording } from './lib/recording.ts'
import { isSecret, redactUrl, withoutSecrets } from './lib/redact.ts'
import type { CheckResult, ClauseResult, Edition, Plan, Progress, Report, SuiteReport } from './lib/report-types.ts'
import { isSelected, type LoadedSuite, loadSuites, ofChecks, ofRequirements, planOf } from './lib/suites.ts'
import { runSuites } from './lib/run-suites.ts'
import { createTargetClock } from './lib/target-clock.ts'
import { Untestable, UsageError } from './lib/outcome.ts'
import { parseWayOfPaging } from './lib/options.ts'
import { describeTransactions } from './lib/relay/receipt.ts'
import { inWorld, ourTimeMs } from './lib/world.ts'

export type { Fixture } from './lib/fixture.ts'
export { type LoadedSuite, loadSuitesOf } from './lib/suites.ts'
export type * from './lib/report-types.ts'
export { UsageError } from './lib/outcome.ts'
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
  /** Suites of others about extensions of the target. They get a part of the report, and decide nothing of the verdict. */
  readonly suites?: readonly LoadedSuite[]
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
  /** How long to wait until a target that died listens again; absent: 20,000. */
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
   * Sent with each request to the target; names in lower case. No report shows their values. With such headers, which may
   * come from the user in a URL, the run does not judge the clauses that no credential is asked for.
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
const defaultRateLimitTimeoutMs = 600_000
/** A run whose requests bear a credential cannot see what these clauses say. */
const aboutCredentials: ReadonlySet<string> = new Set<ClauseId>([
  'relay.auth.no-other-credential',
  'relay.execute.signature-authenticates',
])

/** A credential in the parts that a target may echo: a scheme and what follows it, a user and a password. */
function partsOf(header: string): string[] {
  const [, basic = ''] = /^basic (\S+)$/i.exec(header) ?? []
  return [...header.split(/[\s,;]+/), ...Buffer.from(basic, 'base64').toString('utf8').split(':')]
}

/** A value without the secrets of the run: a hostile target may echo what it is sent, or what it knows. */
function cleaned<Value>(value: Value, { fixture, headers = {} }: CheckOptions): Value {
  const keys = [...Object.values(fixture?.controllers ?? {}), ...(fixture?.funder ? [fixture.funder] : [])]
  return withoutSecrets(
    value,
    Object.values(headers).flatMap(partsOf).filter(isSecret),
    keys.map(({ privateKey }) => privateKey).filter((privateKey) => privateKey !== ''),
  )
}

function countUnmade(suites: readonly ClauseSuite[], made: Results): number {
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
  /** The clauses of both documents. */
  readonly suites: readonly ClauseSuite[]
  /** The suites of others, with those of their clauses that are selected. */
  readonly extensions: readonly LoadedSuite[]
  readonly paging: Environment['paging']
  readonly plan: Plan
}

/** Whether the run checks the clause. Clauses that need random requests belong to runs with such. */
function isRun({ clause }: ClauseSuite, { fuzz }: CheckOptions): boolean {
  return fuzz !== undefined || !clause.needs.includes('fuzz')
}

/** The checks that `options` select, of one suite. A check of somebody else may never end, so it gets a limit. */
function extensionOf(loaded: LoadedSuite, options: CheckOptions): LoadedSuite {
  const { only = null, receiptTimeoutMs = defaultReceiptTimeoutMs } = options
  const limitMs = receiptTimeoutMs + (options.rateLimitTimeoutMs ?? defaultRateLimitTimeoutMs)
  const selected = loaded.clauses.filter(({ id }) => isSelected(id, only))
  const asked = options.checks ? ofChecks(selected, options.checks) : selected
  return {
    ...loaded,
    clauses: asked.map((suite) => ({ ...suite, checks: suite.checks.map((check) => within(limitMs, check)) })),
  }
}

function within(limitMs: number, check: CheckDefinition): CheckDefinition {
  return {
    ...check,
    async body(t) {
      const { promise, reject } = Promise.withResolvers<never>()
      const late = (): void => reject(new Untestable(`the check did not end within ${Math.round(limitMs / 1000)} s`))
      const timer = setTimeout(late, limitMs)
      try {
        await Promise.race([check.body(t), promise])
      } finally {
        clearTimeout(timer)
      }
    },
  }
}

/** @throws UsageError when a URL is none, when `only` names no clause of the target, and when `paging` is no way of it */
async function select(options: CheckOptions): Promise<Selection> {
  const { edition = 'documents', only = null, readOnly = false, maxTransactions = defaultMaxTransactions } = options
  const { relayUrl, ethRpcUrl } = normaliseTarget({
    relayUrl: options.relayUrl,
    ethRpcUrl: options.ethRpcUrl === undefined ? options.relayUrl : options.ethRpcUrl,
  })
  const base = relayUrl && relayBaseOf(relayUrl, edition)
  const judged = { relay: relayUrl !== null, 'eth-rpc': ethRpcUrl !== null, client: false, extension: false }
  const loaded = ofRequirements(await loadSuites(), options.requirements)
  const suites = (options.checks ? ofChecks(loaded, options.checks) : loaded).filter(
    (suite) => judged[suite.clause.document] && isSelected(suite.id, only) && isRun(suite, options),
  )
  const extensions = (options.suites ?? []).map((loaded) => extensionOf(loaded, options))
  const all = [...suites, ...extensions.flatMap((loaded) => loaded.clauses)]
  const unknown = only?.split(',').find((name) => !all.some(({ id }) => isSelected(id, name)))
  if (unknown !== undefined) {
    const known = [loaded, ...(options.suites ?? []).map((suite) => suite.clauses)].flat()
    const meant = insteadOf(
      unknown,
      known.map(({ id }) => id),
    )
    throw new UsageError(`no clause of the target is named ${unknown}${meant}`)
  }
  const target = { relayUrl: base && redactUrl(base), ethRpcUrl: ethRpcUrl && redactUrl(ethRpcUrl) }
  const spends = options.fixture !== undefined && !readOnly
  return {
    relayUrl: base,
    ethRpcUrl,
    suites,
    extensions,
    paging: options.paging === undefined ? undefined : parseWayOfPaging(options.paging),
    plan: planOf(all, { target, edition, maxTransactions: spends ? maxTransactions : 0 }),
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
      rateLimitMs: options.rateLimitTimeoutMs ?? defaultRateLimitTimeoutMs,
      restartMs: options.restartTimeoutMs ?? 20_000,
      lingerMs: options.lingerMs ?? 0,
    }),
    clock,
    spending: createSpending({ readOnly, maxTransactions }),
    paging: selection.paging,
    evidence: createEvidence(),
    notes,
    fuzz: options.fuzz ?? { cases: 0, seed: 0 },
    shared: new Map(),
    nextRpcId: 1,
  }
}

type Results = ReadonlyMap<string, readonly CheckResult[]>

interface Ran {
  readonly tests: Results
  /** How many checks were made. */
  readonly made: number
  /** What all answers to the checks of both documents have in common, if they do. */
  readonly uniform: string | undefined
}

/**
 * Runs the checks until they are done or the run ends, and charges evidence to the clauses that it speaks against. The
 * suites of others come after both documents, and what they see is evidence for their own clauses alone.
 */
async function runAll(
  options: CheckOptions,
  { suites, extensions }: Selection,
  environment: Environment,
): Promise<Ran> {
  const { bail = false, signal, progress } = options
  const { http, edition, notes } = environment
  const others = extensions.flatMap((loaded) => loaded.clauses)
  const byId = new Map([...suites, ...others].map((suite) => [suite.id, suite]))
  const tests = new Map<string, CheckResult[]>(Array.from(byId.keys(), (id) => [id, []]))
  const isExpected = new Set(options.expectedFailures?.map(({ id }) => id))
  let failedFirst: string | undefined
  const checked = (id: string, result: CheckResult): void => {
    const suite = byId.get(id)
    if (!suite) return
    tests.get(id)?.push(result)
    if (result.status === 'failed' && suite.clause.level === 'required' && !isExpected.has(id)) failedFirst ??= id
    progress?.checked?.(clauseResult(suite, [], edition), result)
  }
  const whyStopped = (): string | undefined => {
    if (signal?.aborted) return 'the run was interrupted'
    return bail && failedFirst !== undefined ? `--bail: the run ended with ${failedFirst}` : undefined
  }
  const isOver = (): boolean => http.census.isHopeless() || whyStopped() !== undefined
  const isSaid = (id: string, message: string): boolean =>
    tests.get(id)?.some(({ error }) => error?.message === message) ?? false
  let made = 0
  const run = async (part: readonly ClauseSuite[], shared: Environment): Promise<void> => {
    const own = new Set(part.map(({ id }) => id))
    if (!isOver()) await runSuites(part, shared, checked, isOver)
    made += part.reduce((sum, { id }) => sum + (tests.get(id)?.length ?? 0), 0)
    for (const { id, result } of shared.evidence.charges(isSaid)) if (own.has(id)) checked(id, result)
  }
  await run(suites, environment)
  const uniform = http.census.uniform()
  if (others.length > 0) await run(others, { ...environment, evidence: createEvidence() })
  const stopped = whyStopped()
  if (stopped !== undefined)
    notes.push(`${stopped}; ${countUnmade([...suites, ...others], tests)} checks were not made`)
  return { tests, made, uniform }
}

/** The results of the clauses. A check that could not see what its clause says is untestable. */
function judgedClauses(
  suites: readonly ClauseSuite[],
  { headers = {} }: CheckOptions,
  { edition }: Environment,
  { tests, uniform }: Ran,
): ClauseResult[] {
  const hasOwnHeaders = Object.keys(headers).length > 0
  const borne = 'each request bore headers of the run (--header, or the user in the URL)'
  return suites.map((suite) => {
    const { id } = suite
    const isHidden = hasOwnHeaders && aboutCredentials.has(id)
    const reason = uniform ?? (isHidden ? borne : undefined)
    const isWithdrawn = ({ status }: CheckResult) => uniform !== undefined || status === 'passed'
    const results = (tests.get(id) ?? []).map((result) =>
      reason !== undefined && isWithdrawn(result) ? withdrawn(result, reason) : result,
    )
    return clauseResult(suite, results, edition)
  })
}

async function reportOf(
  options: CheckOptions,
  selection: Selection,
  environment: Environment,
  ran: Ran,
  startMs: number,
): Promise<Report> {
  const { timeoutMs = defaultTimeoutMs, receiptTimeoutMs = defaultReceiptTimeoutMs } = options
  const { only = null, readOnly = false, maxTransactions = defaultMaxTransactions, fuzz } = options
  const { http, clock, chain, hasChain, spending, notes, edition } = environment
  const { plan, relayUrl, ethRpcUrl, suites, extensions } = selection
  const { uniform } = ran
  if (uniform !== undefined) notes.unshift(uniform)
  const judged = [...suites, ...extensions.flatMap((loaded) => loaded.clauses)]
  const found = judgedClauses(judged, options, environment, ran)
  const expected = options.acceptFailures ? expectedFrom(found) : (options.expectedFailures ?? [])
  const { results: all, stale } = applyExpectedFailures(found, expected)
  const results = all.filter(({ document }) => document !== 'extension')
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
    ...(extensions.length > 0 ? { suites: extensions.map((loaded) => suiteReport(loaded, all)) } : {}),
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

/** The part of the report about one suite of somebody else. */
function suiteReport(
  { source, version, suite, clauses: selected }: LoadedSuite,
  all: readonly ClauseResult[],
): SuiteReport {
  const ids = new Set(selected.map(({ id }) => id))
  const results = all.filter(({ id }) => ids.has(id))
  const { prefix, title } = suite
  return {
    prefix,
    title,
    source,
    ...(version === undefined ? {} : { version }),
    summary: countByLevel(results),
    clauses: results,
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

/**
 * The user in the URLs of the target as a header of the run.
 *
 * @throws UsageError the URLs name different users, and a header goes to both
 */
function withUserAsHeader(options: CheckOptions): CheckOptions {
  const { relayUrl, ethRpcUrl = relayUrl, headers } = options
  const urls = [relayUrl, ethRpcUrl].filter((url) => url !== null)
  const [user, ...others] = new Set(urls.map((url) => authorizationOf(parseHttpUrl(url).href).authorization))
  if (others.length > 0) throw new UsageError('the two URLs name different users: name none, and give --header')
  if (user === undefined) return options
  return {
    ...options,
    relayUrl: relayUrl && withoutUser(relayUrl),
    ethRpcUrl: ethRpcUrl && withoutUser(ethRpcUrl),
    headers: { authorization: user, ...headers },
  }
}

async function judge(given: CheckOptions, run?: RecordedRun): Promise<Report> {
  const options = withUserAsHeader(given)
  const selection = await select(options)
  const startMs = ourTimeMs()
  const http = createHttpClient(options.timeoutMs ?? defaultTimeoutMs, options.headers)
  try {
    const environment = await prepare(options, selection, http)
    options.progress?.started?.(selection.plan)
    const ran = await runAll(options, selection, environment)
    const interruptedAfter = options.signal?.aborted ? { interruptedAfter: ran.made } : {}
    const judged = cleaned(await reportOf(options, selection, environment, ran, startMs), options)
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
function recordingOf(options: CheckOptions, { suites, extensions, plan }: Selection, run: RecordedRun): Recording {
  const clean = cleaned(run, options)
  const isAltered = JSON.stringify(clean) !== JSON.stringify(run)
  const judged = [...suites, ...extensions.flatMap((loaded) => loaded.clauses)]
  const checks = Object.fromEntries(judged.map(({ id, checks }) => [id, checks.map(({ title }) => title)]))
  return {
    ...clean,
    options: recordedOptions({ ...options, ...plan.target, checks }),
    ...(isAltered ? { isAltered } : {}),
  }
}
