import { parseArgs } from 'node:util'
import { clauses, type ClauseId } from '../specs/index.ts'
import { loadLawful, loadMutants } from './altered/load.ts'
import { isSelected, loadSuites } from './lib/suites.ts'
import { wrap } from './lib/report/layout.ts'

const usage = `Usage: touchstone explain <clause>

Says what a clause asks, how it is checked, which servers it must catch and which it must spare.

Examples:
  touchstone explain relay.quota.unit

Exit codes:
  0  explained
  2  wrong usage, or no clause has this name
`

const WIDTH = 100

interface Streams {
  readonly stdout: { write(text: string): unknown }
  readonly stderr: { write(text: string): unknown }
}

function list(title: string, items: readonly string[]): string {
  if (items.length === 0) return ''
  const lines = items.map((item) => `  - ${wrap(item, WIDTH, '    ').trimStart()}`)
  return `\n${title}\n${lines.join('\n')}\n`
}

async function explain(id: ClauseId): Promise<string> {
  const { level, section, document, text, needs, untested } = clauses[id]
  const suites = (await loadSuites()).find((suite) => suite.id === id)
  const mutants = (await loadMutants()).filter(({ mutant }) => mutant.clause === id)
  const lawful = (await loadLawful()).filter((one) => one.lawful.clauses.includes(id))
  return [
    `${id}  ${level}, section ${section} of the ${document} document\n`,
    `\n${wrap(text, WIDTH, '  ')}\n`,
    needs.length > 0 ? `\nNeeds ${needs.join(', ')}.\n` : '',
    list(
      'How it is checked',
      (suites?.checks ?? []).map(({ title }) => title),
    ),
    untested ? `\nNo check: ${untested}\n` : '',
    list(
      'Servers that a check must fail',
      mutants.map(({ mutant }) => mutant.fault),
    ),
    list(
      'Servers that the checks must pass, and what allows each',
      lawful.map(({ name, lawful: { allowedBy } }) => `${name}: ${allowedBy}`),
    ),
    `\nCheck it alone: touchstone check <url> --only ${id}\n`,
  ].join('')
}

/**
 * The command `explain`.
 *
 * @param argv the arguments behind the word: the id of a clause
 * @returns the exit code: 0, or 2 for wrong usage and for a name that no clause has
 */
export async function run(argv: readonly string[], { stdout, stderr }: Streams = process): Promise<number> {
  let names: readonly string[]
  try {
    const { values, positionals } = parseArgs({
      args: [...argv],
      options: { help: { type: 'boolean', short: 'h' } },
      allowPositionals: true,
    })
    if (values.help) {
      stdout.write(usage)
      return 0
    }
    names = positionals
  } catch (error) {
    stderr.write(`touchstone explain: ${(error as Error).message}\n`)
    return 2
  }
  const [name] = names
  if (name === undefined || names.length > 1) {
    stderr.write('touchstone explain: name one clause; touchstone clauses --short lists them\n')
    return 2
  }
  const ids = Object.keys(clauses) as ClauseId[]
  const id = ids.find((one) => one === name)
  if (id === undefined) {
    const alike = ids.filter((one) => isSelected(one, name) || one.includes(name))
    const hint = alike.length > 0 ? `; there are ${alike.slice(0, 8).join(', ')}` : ''
    stderr.write(`touchstone explain: no clause is named ${name}${hint}\n`)
    return 2
  }
  stdout.write(await explain(id))
  return 0
}
