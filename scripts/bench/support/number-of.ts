import { UsageError } from '../../../conformance/lib/outcome.ts'

/** The number that an option of a benchmark holds, as `parseArgs` has read it. @throws UsageError it is none */
export function numberOf<Name extends string>(values: { readonly [name in Name]: string }, name: Name): number {
  const text = values[name]
  if (/^\d{1,15}$/.test(text)) return Number(text)
  throw new UsageError(`bench: --${name} takes a whole number, not '${text}'`)
}
