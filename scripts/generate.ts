import { Command } from 'commander'
import { writeFile } from 'node:fs/promises'
import { generatedFiles } from './generate/files.ts'
import { parseCommand } from './parse-command.ts'

/**
 * The command `generate`: writes what is made from the clauses, the schemas and the error catalogue, and prints the paths.
 *
 * @returns the exit code: 0 written, 2 wrong usage
 */
export async function run(argv: readonly string[]): Promise<number> {
  const exitCode = parseCommand(new Command('touchstone generate').description('writes what is made from specs/'), argv)
  if (exitCode !== undefined) return exitCode
  for (const [path, text] of await generatedFiles()) {
    await writeFile(new URL(`../${path}`, import.meta.url), text)
    console.log(path)
  }
  return 0
}
