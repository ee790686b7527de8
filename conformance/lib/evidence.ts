import type { Fault } from './outcome.ts'
import type { CheckError, CheckResult, Exchange } from './report-types.ts'

/** The report shows at most this many pieces of evidence against one clause. */
const shownOfClause = 3

/** The check that saw something against another clause. */
interface Place {
  readonly id: string
  readonly title: string
}

/** Collects what the checks of some clauses show against others, so that all that a run saw judges each sentence. */
export interface Evidence {
  /** Adds a fault whose `of` is not the clause that was being checked. */
  add(fault: Fault, place: Place, error: CheckError, exchanges: readonly Exchange[]): void
  /**
   * The evidence as failed checks of the clauses that it speaks against.
   *
   * @param isSaid whether a check of the clause itself has failed with this message; the evidence then does not
   * repeat it
   */
  charges(isSaid: (id: string, message: string) => boolean): { readonly id: string; readonly result: CheckResult }[]
}

export function createEvidence(): Evidence {
  /** Work that checks share throws the same fault at each of them. The set keeps it from counting twice. */
  const seen = new Set<Fault>()
  const charged: { id: string; result: CheckResult }[] = []
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
