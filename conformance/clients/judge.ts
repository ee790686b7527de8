import { clauses, packageVersion } from '../../specs/index.ts'
import { applyExpectedFailures, type ExpectedFailure } from '../lib/expected-failures.ts'
import type { Fixture } from '../lib/fixture.ts'
import { withoutSecrets } from '../lib/redact.ts'
import type { CheckResult, Edition, Exchange, Report } from '../lib/report-types.ts'
import { outcomeOf } from '../lib/run-suites.ts'
import { Fault } from '../lib/outcome.ts'
import { countRequired, isSelected } from '../lib/suites.ts'
import { clauseResult, countByLevel, findCauses, verdictOf } from '../lib/verdict.ts'
import type { ClientClause } from './context.ts'
import type { Recording } from './recording.ts'
import { clientClauses } from './suites/index.ts'

export interface JudgeOptions {
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
export function judgeRecording(recording: Recording, options: JudgeOptions): Report {
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
