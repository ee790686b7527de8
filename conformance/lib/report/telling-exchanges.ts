import type { CheckResult, Exchange } from '../report-types.ts'

/**
 * The exchanges of a failed check that tell most: the one that shows the fault, and behind it the last of the others.
 * Where none is known to show it, the last ones in their order.
 *
 * @param most how many
 */
export function tellingExchanges({ exchanges, error }: CheckResult, most: number): Exchange[] {
  const telling = error?.exchange === undefined ? undefined : exchanges[error.exchange]
  if (!telling) return exchanges.slice(-most)
  const others = exchanges.filter((exchange) => exchange !== telling)
  return [telling, ...(most > 1 ? others.slice(1 - most) : [])]
}
