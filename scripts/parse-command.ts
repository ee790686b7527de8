import { CommanderError, type Command } from 'commander'

/**
 * Parses the arguments of one of our commands. What is wrong with them, or the help that they ask for, is printed.
 *
 * @returns the exit code when that is all: 0 after the help, 2 for wrong usage; undefined: go on
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
