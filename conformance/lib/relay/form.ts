import type { CheckContext } from '../context.ts'

/** What the target wants in each call beyond the document; filled when the first call of the run shows it. */
export interface RelayForm {
  /** `validityTimestamps` as it stands in the body; absent: not in the body. */
  validityText?: string
}

export function relayForm(t: CheckContext): Promise<RelayForm> {
  return t.once('relay.form', async () => ({}))
}
