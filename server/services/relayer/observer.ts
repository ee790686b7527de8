import type { Acceptance, Committed } from '../ledger/draft.ts'

/** Is told when calls of many requests are stored and sent together. It runs the work, and changes nothing. */
export interface RelayObserver {
  store(acceptances: readonly Acceptance[], work: () => Promise<Committed[]>): Promise<Committed[]>
  /** @param hashes of what is sent, as the ledger names the attempts */
  send<T>(hashes: readonly string[], work: () => Promise<T>): Promise<T>
}

/** Observes nothing. */
export const unobserved: RelayObserver = {
  store: (_acceptances, work) => work(),
  send: (_hashes, work) => work(),
}
