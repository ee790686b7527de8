/**
 * What suites of other packages import, as `touchstone/suite`: clauses and checks of one's own, and the mutants and lawful
 * servers that prove them. `docs/suites.md` builds one.
 */
import type { ClauseNeed } from '../specs/index.ts'
import type { Lawful, Mutant, ServerEnvironment } from './altered/define.ts'
import { type CheckDefinition, checksOf, type DefineCheck, type JudgedClause } from './lib/clause.ts'

export { hangUp, mapResponses, respond, respondText, withJson } from './altered/define.ts'
export type {
  Alteration,
  AlteredRequest,
  AlteredResponse,
  AlteredTools,
  Forward,
  Handler,
  Lawful,
  Mutant,
  ServerEnvironment,
} from './altered/define.ts'
export { type Answer, describeAnswer, memberOf } from './lib/answer.ts'
export type { CheckBody, CheckContext, CheckSettings, DefineCheck } from './lib/clause.ts'
export { expect, requireServed, resultOf } from './lib/expect.ts'
export { Fault, Untestable } from './lib/outcome.ts'
export { attemptCall } from './lib/relay/attempt.ts'
export { askQuota } from './lib/relay/quota.ts'
export type { ClauseLevel, ClauseNeed } from '../specs/index.ts'

/** One sentence of the suite, as `specs/clauses/*.json` has those of the documents. */
export type SuiteClause = Pick<JudgedClause, 'level' | 'section' | 'text'> & {
  /** What a check wants beside the URL. */
  readonly needs: readonly Exclude<ClauseNeed, 'fuzz'>[]
}

/** The checks of one clause. */
export interface SuiteChecks {
  readonly id: string
  readonly checks: readonly CheckDefinition[]
}

/** What a suite brings; `specs/schemas/suite.json` has its form. */
export interface Suite {
  readonly kind: 'suite'
  /** The ids of all clauses begin with it and a dot. */
  readonly prefix: string
  /** What reports call the suite. */
  readonly title: string
  /** The sentences by their ids. */
  readonly clauses: Readonly<Record<string, SuiteClause>>
  readonly checks: readonly SuiteChecks[]
  /** Servers that break one sentence each. `prove` wants one for each clause that is no question. */
  readonly mutants?: readonly Mutant<string>[]
  /** Servers that keep every sentence, and differ where they are silent. */
  readonly lawful?: readonly Lawful<string>[]
  /** The testbed that `check` without a URL and `prove` start; absent: the testbed as it is. */
  readonly environment?: Pick<ServerEnvironment, 'server'>
}

/**
 * Defines a suite: the default export of a module.
 *
 * @example
 * export default defineSuite({
 *   prefix: 'acme',
 *   title: "Acme's extensions",
 *   clauses: { 'acme.ping': { level: 'required', section: 'README', text: 'acme_ping answers "pong".', needs: [] } },
 *   checks: [
 *     clause('acme.ping', (check) => {
 *       check('answers', async (t) => expect(await t.rpc.call('acme_ping')).to.have.result('pong'))
 *     }),
 *   ],
 * })
 */
export function defineSuite(suite: Omit<Suite, 'kind'>): Suite {
  return { kind: 'suite', ...suite }
}

/** Defines the checks of one clause of the suite. This function runs no check. */
export function clause(id: string, define: (check: DefineCheck) => void): SuiteChecks {
  return { id, checks: checksOf(define) }
}
