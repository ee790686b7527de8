import { Untestable } from './outcome.ts'

/** What the run may cost the relay, and what it has cost. One check sees the account of the run through this. */
export interface Spending {
  /**
   * Must be called before any request that the target could turn into a transaction.
   *
   * @throws Untestable when the run may send no more of these
   */
  ask(): void
  /** Records a transaction that the target says it sent. */
  caused(hash: string): void
  /** Records a request without an answer that could have spent. It counts as spent. */
  unknown(): void
}

/** The account of a whole run. */
export interface SpendingAccount {
  /** What one check sees of the account. */
  of(clause: string): Spending
  readonly transactions: readonly { readonly hash: string; readonly clause: string }[]
}

/** @param maxTransactions the run sends nothing that spends after this many transactions */
export function createSpending({
  readOnly,
  maxTransactions,
}: {
  readOnly: boolean
  maxTransactions: number
}): SpendingAccount {
  const transactions: { hash: string; clause: string }[] = []
  const hashes = new Set<string>()
  let unanswered = 0
  return {
    transactions,
    of: (clause) => ({
      ask() {
        if (readOnly) throw new Untestable('read-only: the run sends nothing that could spend')
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
