import { parseArgs } from 'node:util'
import { type ClauseId, clauses, insteadOf } from '../specs/index.ts'
import { loadLawful, loadMutants } from './altered/load.ts'
import { clientClauses } from './clients/judge.ts'
import { lawfulClients } from './clients/lawful.ts'
import { clientMutants } from './clients/mutants.ts'
import { UsageError } from './lib/outcome.ts'
import { wrap } from './lib/report/words.ts'
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
    process.stderr.write(
      `no clause begins with ${only}${only === null ? '' : insteadOf(only, Object.keys(clauses))}\n${usage}`,
    )
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

const WIDTH = 100

function list(title: string, items: readonly string[]): string {
  if (items.length === 0) return ''
  const lines = items.map((item) => `  - ${wrap(item, WIDTH, '    ').trimStart()}`)
  return `\n${title}\n${lines.join('\n')}\n`
}

/** What is known of a clause beside its row: titles of checks, faults of mutants, and what each lawful one is allowed. */
interface Known {
  readonly checks: readonly string[]
  readonly mutants: readonly string[]
  readonly lawful: readonly string[]
}

async function ofRelay(id: ClauseId): Promise<Known> {
  const suites = (await loadSuites()).find((suite) => suite.id === id)
  const mutants = (await loadMutants()).filter(({ mutant }) => mutant.clause === id)
  const lawful = (await loadLawful()).filter((one) => one.lawful.clauses.includes(id))
  return {
    checks: (suites?.checks ?? []).map(({ title }) => title),
    mutants: mutants.map(({ mutant }) => mutant.fault),
    lawful: lawful.map(({ name, lawful: { allowedBy } }) => `${name}: ${allowedBy}`),
  }
}

function ofClient(id: ClauseId): Known {
  return {
    checks: clientClauses.filter((one) => one.id === id).map(({ title }) => title),
    mutants: clientMutants.filter(({ clause }) => clause === id).map(({ fault }) => fault),
    lawful: lawfulClients.filter((one) => one.clauses.includes(id)).map((one) => `${one.id}: ${one.allowedBy}`),
  }
}

/**
 * Says what a clause asks, how it is checked, which servers it must catch and which it must spare.
 *
 * @throws UsageError no clause has this name
 */
export async function explainClause(name: string): Promise<string> {
  const ids = Object.keys(clauses) as ClauseId[]
  const id = ids.find((one) => one === name)
  if (id === undefined) {
    const alike = ids.filter((one) => isSelected(one, name) || one.includes(name))
    const hint = alike.length > 0 ? `; there are ${alike.slice(0, 8).join(', ')}` : insteadOf(name, ids)
    throw new UsageError(`explain: no clause and no file is named '${name}'${hint}`)
  }
  const { level, section, document, text, needs, untested } = clauses[id]
  const { checks, mutants, lawful } = document === 'client' ? ofClient(id) : await ofRelay(id)
  const whom = document === 'client' ? 'Clients' : 'Servers'
  return [
    `${id}  ${level}, section ${section}${document === 'client' ? '' : ` of the ${document} document`}\n`,
    `\n${wrap(text, WIDTH, '  ')}\n`,
    needs.length > 0 ? `\nNeeds ${needs.join(', ')}.\n` : '',
    list('How it is checked', checks),
    untested ? `\nNo check: ${untested}\n` : '',
    list(`${whom} that a check must fail`, mutants),
    list(`${whom} that the checks must pass, and what allows each`, lawful),
    `\nCheck it alone: touchstone ${document === 'client' ? `judge-client --only ${id} -- <command>` : `check <url> --only ${id}`}\n`,
  ].join('')
}
