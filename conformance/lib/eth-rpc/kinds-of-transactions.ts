import type { CheckContext } from '../context.ts'
import type { KnownTransaction } from './known-transactions.ts'
import { numberOf } from './quantity.ts'

type Members = Readonly<Record<string, unknown>>

/** What a double cannot hold is rounded by who reads numbers as doubles. */
export function needsManyDigits(value: bigint): boolean {
  return BigInt(Number(value)) !== value
}

const kinds: Readonly<Record<string, (transaction: Members, receipt: Members) => boolean>> = {
  'of type 0 (legacy)': ({ type }) => numberOf(type) === 0n,
  'of type 1 (with an access list)': ({ type }) => numberOf(type) === 1n,
  'that reverted': (_transaction, { status }) => numberOf(status) === 0n,
  'that creates a contract': ({ to }) => (to ?? null) === null,
  'with a value beyond what a double holds': ({ value }) => needsManyDigits(numberOf(value) ?? 0n),
}

/** Tells which kinds of transactions nobody could look at: then nothing was learnt of these. */
export function observeMissingKinds(
  t: CheckContext,
  seen: readonly { readonly known: KnownTransaction; readonly receipt: Members }[],
): void {
  const missing = Object.entries(kinds).filter(
    ([, isOfKind]) => !seen.some(({ known, receipt }) => isOfKind(known.fields, receipt)),
  )
  if (missing.length === 0) return
  t.observe(
    `not seen, because neither the fixture nor the chain shows one: a transaction ${missing.map(([kind]) => kind).join(', ')}`,
  )
}
