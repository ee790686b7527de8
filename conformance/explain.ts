import { clauses, type ClauseId } from '../specs/index.ts'
import { loadLawful, loadMutants } from './altered/load.ts'
import { isSelected, loadSuites } from './lib/suites.ts'
import { UsageError } from './lib/usage-error.ts'
import { wrap } from './lib/report/layout.ts'

const WIDTH = 100

function list(title: string, items: readonly string[]): string {
  if (items.length === 0) return ''
  const lines = items.map((item) => `  - ${wrap(item, WIDTH, '    ').trimStart()}`)
  return `\n${title}\n${lines.join('\n')}\n`
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
    const hint = alike.length > 0 ? `; there are ${alike.slice(0, 8).join(', ')}` : ''
    throw new UsageError(`explain: no clause and no file is named '${name}'${hint}`)
  }
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
