import type { ClauseId } from '../../specs/index.ts'
import type { Fault } from './outcome.ts'
import type { CheckError, CheckResult, Exchange } from './report-types.ts'

/** So many pieces of evidence against one clause are enough to show. */
const shownOfClause = 3

/** The check in which something was seen that speaks against another clause. */
interface Place {
  readonly id: ClauseId
  readonly title: string
}

/** Collects what the checks of some clauses show against others, so that each sentence is judged by all that was seen. */
export interface Evidence {
  /** Takes in a fault whose `of` is not the clause that was being checked. */
  add(fault: Fault, place: Place, error: CheckError, exchanges: readonly Exchange[]): void
  /**
   * The evidence as failed checks of the clauses that it speaks against.
   *
   * @param isSaid whether the clause's own checks have failed with this message: then it is not said again
   */
  charges(isSaid: (id: ClauseId, message: string) => boolean): { readonly id: ClauseId; readonly result: CheckResult }[]
}

export function createEvidence(): Evidence {
  /** Shared work throws one fault at each check that asks for it: it is one piece of evidence. */
  const seen = new Set<Fault>()
  const charged: { id: ClauseId; result: CheckResult }[] = []
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
