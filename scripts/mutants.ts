import { run as prove } from './prove.ts'

/**
 * The command `mutants`: the first half of `prove`, the servers that are broken on purpose.
 *
 * @returns the exit code of `prove`
 */
export function run(argv: readonly string[]): Promise<number> {
  return prove(['--no-lawful', '--out', '.touchstone/mutants.json', ...argv])
}
