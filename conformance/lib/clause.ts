import { type Clause, type ClauseId, type ClauseNeed, clauses } from '../../specs/index.ts'
import type { CheckContext } from './context.ts'

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

export interface CheckSettings {
  readonly needs?: readonly ClauseNeed[]
  readonly isLast?: boolean
}

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
    checks.push({ title, needs: options?.needs, isLast: options?.isLast ?? false, body })
  }
  define(add)
  return checks
}
