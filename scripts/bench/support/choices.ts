import { UsageError } from '../../../conformance/lib/outcome.ts'

/**
 * Reads the comma-separated choices of an option.
 *
 * @throws UsageError for what is no choice: a benchmark must not pass because it measured nothing
 */
export function choicesIn<Choice extends string>(
  option: string,
  value: string,
  choices: readonly Choice[],
): readonly Choice[] {
  return value.split(',').map((wanted) => {
    const choice = choices.find((one) => one === wanted)
    if (choice === undefined) throw new UsageError(`${option}: '${wanted}' is none of ${choices.join(', ')}`)
    return choice
  })
}
