import { clauses, packageVersion } from '../../specs/index.ts'
import {
  applyExpectedFailures,
  clauseResult,
  countByLevel,
  type ExpectedFailure,
  findCauses,
  verdictOf,
} from '../lib/verdict.ts'
import type { Fixture } from '../lib/fixture.ts'
import { Fault, Untestable, UsageError } from '../lib/outcome.ts'
import { withoutSecrets } from '../lib/redact.ts'
import type { CheckResult, Edition, Exchange, Report } from '../lib/report-types.ts'
import { outcomeOf } from '../lib/run-suites.ts'
import { countRequired, isSelected } from '../lib/suites.ts'
import { type JudgingRelayOptions, startJudgingRelay } from './judging-relay.ts'
import type { ClientClause, Recording } from './recording.ts'
import conduct from './suites/conduct.ts'
import ethRpc from './suites/eth-rpc.ts'
import execute from './suites/execute.ts'
import quota from './suites/quota.ts'

/** What a client is given. */
export interface Given {
  /** The base URL of both documents. */
  readonly relayUrl: string
  /** Its chain, its profile and its controllers. */
  readonly fixture: Fixture
}

/**
 * Lets a client act, and records what it does.
 *
 * @param act ends when the client does; what it returns says why the client was ended before it was done
 * @throws UsageError when the relay behind, or the chain's node, does not answer: nobody is judged then
 */
async function recordClient(
  options: JudgingRelayOptions,
  act: (given: Given) => Promise<string | void>,
): Promise<Recording & { readonly relayUrl: string }> {
  const relay = await startJudgingRelay(options)
  try {
    const { fixture } = options
    const server = { relayUrl: relay.url, ethRpcBaseUrl: relay.url }
    const cutShort = await act({ relayUrl: relay.url, fixture: { ...fixture, server } })
    return { ...(await relay.finish(cutShort ?? undefined)), relayUrl: relay.url }
  } catch (error) {
    if (error instanceof Untestable) throw new UsageError(`the client cannot be judged: ${error.message}`)
    throw error
  } finally {
    await relay.close()
  }
}

/** Lets a client act, and judges it. @throws UsageError as {@link recordClient} */
export async function judgeClient(
  options: JudgingRelayOptions & Pick<JudgeOptions, 'client' | 'only' | 'edition' | 'timeoutMs' | 'expectedFailures'>,
  act: (given: Given) => Promise<string | void>,
): Promise<Report> {
  const startedMs = Date.now()
  const { relayUrl, ...recording } = await recordClient(options, act)
  return judgeRecording(recording, { ...options, relayUrl, startedMs })
}

interface JudgeOptions {
  /** How the report names the client: its command. */
  readonly client: string
  /** What the client was given. */
  readonly relayUrl: string
  readonly fixture: Fixture
  /** Clause ids, or the beginnings of ids, separated by commas; null: all. */
  readonly only?: string | null
  /** Absent: `documents`. */
  readonly edition?: Edition
  /** Unix milliseconds. */
  readonly startedMs: number
  /** How long the client was given. */
  readonly timeoutMs: number
  readonly expectedFailures?: readonly ExpectedFailure[]
}

/** Makes one check of what a client did. Never throws. */
function checkOf({ id, title, judge }: ClientClause, recording: Recording, edition: Edition): CheckResult {
  const isQuestion = clauses[id].level === 'unspecified'
  const exchanges: Exchange[] = []
  const observations: string[] = []
  let outcome: ReturnType<typeof outcomeOf> = { status: isQuestion ? 'observed' : 'passed' }
  try {
    judge({
      edition,
      recording,
      show: ({ answer }) => void exchanges.push(answer.exchange),
      observe: (text) => void observations.push(text),
    })
  } catch (error) {
    if (error instanceof Fault && error.answer) exchanges.push(error.answer.exchange)
    outcome = outcomeOf(error, id, exchanges)
  }
  return { title, ...outcome, durationMs: 0, ...(observations.length > 0 && { observations }), exchanges }
}

/**
 * Judges what a client did, and returns a report as `check` does, about the client. The report holds none of the private
 * keys that the client was given.
 */
function judgeRecording(recording: Recording, options: JudgeOptions): Report {
  const { client, relayUrl, fixture, only = null, edition = 'documents', startedMs, timeoutMs } = options
  const found = clientClauses
    .filter(({ id }) => isSelected(id, only))
    .map((each) =>
      clauseResult({ id: each.id, clause: clauses[each.id] }, [checkOf(each, recording, edition)], edition),
    )
  const { results, stale } = applyExpectedFailures(found, options.expectedFailures ?? [])
  const { requests, cutShort, privateKeys } = recording
  const report: Report = {
    suite: { name: 'touchstone', version: packageVersion(), edition },
    target: { relayUrl, ethRpcUrl: relayUrl, client },
    startedAt: new Date(startedMs).toISOString(),
    durationMs: Math.round(Date.now() - startedMs),
    verdict: verdictOf(results, only !== null),
    summary: { ...countByLevel(results), ofRequired: countRequired('client') },
    causes: findCauses(results),
    clauses: results,
    options: { timeoutMs, readOnly: false, only },
    traffic: {
      requests: requests.length,
      timeouts: 0,
      unanswered: requests.filter(({ answer }) => answer.failure).length,
    },
    transactions: [],
    chain: { chainId: fixture.chain.chainId },
    profile: { address: fixture.profile.address, keyManager: fixture.profile.keyManager },
    ...(options.expectedFailures ? { staleExpectedFailures: stale } : {}),
    notes: [
      ...(requests.length === 0 ? ['the client sent no request to the relay'] : []),
      ...(cutShort === undefined ? [] : [cutShort]),
    ],
  }
  return withoutSecrets(report, [], privateKeys)
}

const order = Object.keys(clauses)

/** The checks of all clauses about clients, in the order of the catalogue. */
export const clientClauses: readonly ClientClause[] = [...execute, ...conduct, ...quota, ...ethRpc].sort(
  (a, b) => order.indexOf(a.id) - order.indexOf(b.id),
)
