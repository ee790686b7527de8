import { parseArgs } from 'node:util'
import { clauses, type ClauseId } from '../specs/index.ts'
import { clientClauses } from './clients/judge.ts'
import { isSelected, loadSuites } from './lib/suites.ts'

const usage = `Usage: touchstone clauses [prefix] [--short] [--json]

Lists the clauses of the documents: level, section, what their checks need, and the titles of the checks;
with --short a line each.
`

/**
 * The command `clauses`.
 *
 * @param argv the arguments behind the word: a clause id or the beginning of one, `--short`, `--json`
 * @returns the exit code: 0, or 2 when no clause has the prefix
 */
export async function run(argv: readonly string[]): Promise<number> {
  let flags: { json?: boolean; short?: boolean; help?: boolean }
  let only: string | null
  try {
    const { values, positionals } = parseArgs({
      args: [...argv],
      options: { json: { type: 'boolean' }, short: { type: 'boolean' }, help: { type: 'boolean' } },
      allowPositionals: true,
    })
    flags = values
    only = positionals[0] ?? null
  } catch (error) {
    process.stderr.write(`${(error as Error).message}\n${usage}`)
    return 2
  }
  if (flags.help) {
    process.stdout.write(usage)
    return 0
  }
  const suites = new Map<ClauseId, readonly { readonly title: string }[]>([
    ...(await loadSuites()).map(({ id, checks }) => [id, checks] as const),
    ...clientClauses.map((clause) => [clause.id, [clause]] as const),
  ])
  const rows = (Object.keys(clauses) as ClauseId[])
    .filter((id) => isSelected(id, only))
    .map((id) => ({ id, ...clauses[id], checks: (suites.get(id) ?? []).map(({ title }) => title) }))
  if (rows.length === 0) {
    process.stderr.write(`no clause begins with ${only}\n${usage}`)
    return 2
  }
  if (flags.json) {
    process.stdout.write(`${JSON.stringify(rows, null, 2)}\n`)
    return 0
  }
  if (flags.short) {
    const width = Math.max(...rows.map(({ id }) => id.length))
    for (const { id, level, section } of rows) {
      process.stdout.write(`${id.padEnd(width)}  ${level.padEnd(11)}  ${section}\n`)
    }
    return 0
  }
  for (const { id, level, section, text, needs, untested, checks } of rows) {
    process.stdout.write(
      `${id}  ${level}, section ${section}${needs.length > 0 ? `, needs ${needs.join(', ')}` : ''}\n`,
    )
    process.stdout.write(`  ${text}\n`)
    if (untested) process.stdout.write(`  no check: ${untested}\n`)
    for (const title of checks) process.stdout.write(`  - ${title}\n`)
    process.stdout.write('\n')
  }
  return 0
}
