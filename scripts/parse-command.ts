import { CommanderError, type Command, InvalidArgumentError } from 'commander'
import { UsageError } from '../conformance/lib/outcome.ts'

/**
 * Parses the arguments of a command, and prints what is wrong with them, or the help that they ask for.
 *
 * @returns the exit code when the command ends here: 0 after the help, 2 for wrong usage; undefined when it goes on
 */
export function parseCommand(command: Command, argv: readonly string[]): 0 | 2 | undefined {
  try {
    command.exitOverride().parse([...argv], { from: 'user' })
    return undefined
  } catch (error) {
    if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : 2
    throw error
  }
}

/** Parses a TCP port of a command line; 0 is any free one. */
export function parsePort(text: string): number {
  const port = Number(text)
  if (!/^\d+$/.test(text) || port > 65535) throw new InvalidArgumentError('a port is a number from 0 to 65535.')
  return port
}

/** Parses seconds of a command line, fractions allowed. */
export function parseSeconds(text: string): number {
  const seconds = Number(text)
  if (!(seconds > 0 && seconds <= 86_400)) throw new InvalidArgumentError('seconds are a number above 0.')
  return seconds
}

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

/** The number that an option of a benchmark holds, as `parseArgs` has read it. @throws UsageError it is none */
export function numberOf<Name extends string>(values: { readonly [name in Name]: string }, name: Name): number {
  const text = values[name]
  if (/^\d{1,15}$/.test(text)) return Number(text)
  throw new UsageError(`bench: --${name} takes a whole number, not '${text}'`)
}
