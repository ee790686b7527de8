import { Command } from 'commander'
import { writeFile } from 'node:fs/promises'
import { loadSuites, requirementsOf } from '../conformance/lib/suites.ts'
import { generatedFiles } from './generate/files.ts'
import { formatted } from './generate/format.ts'
import { parseCommand } from './parse-command.ts'

/**
 * The command `generate`: writes what is made from the clauses, the schemas and the error catalogue, and prints the paths.
 *
 * @returns the exit code: 0 written, 2 wrong usage
 */
export async function run(argv: readonly string[]): Promise<number> {
  const command = new Command('touchstone generate')
    .description('writes what is made from specs/')
    .option('--requirements <year-month>', 'also freezes the clauses and checks, as they are, as a set of this name')
  const exitCode = parseCommand(command, argv)
  if (exitCode !== undefined) return exitCode
  const { requirements } = command.opts<{ requirements?: string }>()
  if (requirements !== undefined && !/^\d{4}-\d\d$/.test(requirements)) {
    console.error(`--requirements takes a year and a month, as 2026-11; not "${requirements}"`)
    return 2
  }
  const files = await generatedFiles()
  if (requirements !== undefined) {
    const path = `specs/requirements/${requirements}.json`
    files.set(path, await formatted(path, JSON.stringify(requirementsOf(await loadSuites()))))
  }
  for (const [path, text] of files) {
    await writeFile(new URL(`../${path}`, import.meta.url), text)
    console.log(path)
  }
  return 0
}
