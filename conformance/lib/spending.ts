import type { ClauseId } from '../../specs/index.ts'
import { Untestable } from './outcome.ts'

/** What the run may cost the relay, and what it has cost. */
export interface Spending {
  /** Call it before any request that the target could turn into a transaction. @throws Untestable when it may not be */
  ask(): void
  /** A transaction that the target says it sent. */
  caused(hash: string): void
  /** A request that could have spent, with no answer: counted as spent. */
  unknown(): void
}

/** The account of a whole run. */
export interface SpendingAccount {
  /** The view of one check. */
  of(clause: ClauseId): Spending
  readonly transactions: readonly { readonly hash: string; readonly clause: ClauseId }[]
}

/** @param maxTransactions after so many nothing more is sent that spends; 0 with `readOnly` */
export function createSpending({
  readOnly,
  maxTransactions,
}: {
  readOnly: boolean
  maxTransactions: number
}): SpendingAccount {
  const transactions: { hash: string; clause: ClauseId }[] = []
  const hashes = new Set<string>()
  let unanswered = 0
  return {
    transactions,
    of: (clause) => ({
      ask() {
        if (readOnly) throw new Untestable('read-only: nothing is sent that could spend')
        if (transactions.length + unanswered >= maxTransactions) {
          throw new Untestable(`the budget of ${maxTransactions} transactions is used up (--max-transactions)`)
        }
      },
      caused(hash) {
        if (hashes.has(hash)) return
        hashes.add(hash)
        transactions.push({ hash, clause })
      },
      unknown() {
        unanswered++
      },
    }),
  }
}
