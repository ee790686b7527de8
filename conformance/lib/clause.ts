import type { ClauseId, ClauseNeed } from '../../specs/index.ts'
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
  /** What the check needs beside the URL; absent: the needs in the clause's row of `specs/clauses`. */
  readonly needs: readonly ClauseNeed[] | undefined
  /** The run makes this check after all others. */
  readonly isLast?: boolean
  readonly body: CheckBody
}

/** A clause and its checks. A suite file exports a list of these. */
export interface ClauseSuite {
  readonly id: ClauseId
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
export function clause(id: ClauseId, define: (check: DefineCheck) => void): ClauseSuite {
  const checks: CheckDefinition[] = []
  const add = (title: string, ...rest: [CheckBody] | [CheckSettings, CheckBody]): void => {
    const [options, body] = rest.length === 1 ? [undefined, rest[0]] : rest
    checks.push({ title, needs: options?.needs, isLast: options?.isLast ?? false, body })
  }
  define(add)
  return { id, checks }
}
