import { CommanderError, type Command } from 'commander'

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
