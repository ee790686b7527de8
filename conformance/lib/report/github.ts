import type { ClauseResult, Report } from '../report-types.ts'
import { visibleControls } from './escape.ts'
import { allClauses } from '../verdict.ts'
import { shorten } from './layout.ts'
import { shownStatus, verdictText, verdictTitle } from './words.ts'

const messageLimit = 1000

/**
 * Escapes a text for a workflow command:
 * https://docs.github.com/actions/reference/workflow-commands-for-github-actions
 */
const value = (text: string): string =>
  visibleControls(text).replaceAll('%', '%25').replaceAll('\r', '%0D').replaceAll('\n', '%0A')
const property = (text: string): string => value(text).replaceAll(':', '%3A').replaceAll(',', '%2C')

/** `::error title=<title>::<message>`, on one line whatever the target answered. */
function command(name: 'error' | 'warning', title: string, message: string): string {
  return `::${name} title=${property(title)}::${value(shorten(message, messageLimit))}\n`
}

function annotation(clause: ClauseResult): string {
  const error = clause.tests.find(({ status }) => status === 'failed')?.error
  const values = [['expected', error?.expected] as const, ['actual', error?.actual] as const]
  const lines = values.flatMap(([name, text]) => (text === undefined ? [] : [`${name}: ${text}`]))
  const message = [clause.text, error?.message ?? 'failed', ...lines].join('\n')
  return command(clause.level === 'required' ? 'error' : 'warning', clause.id, message)
}

/**
 * Annotations of a GitHub workflow: an error for each required clause that failed, also of suites of others, a warning for
 * each recommended one, and the verdict when the suite could not judge. Expected failures have none.
 */
export function renderGithub(report: Report): string {
  if (report.verdict === 'error') return command('error', verdictTitle(report), verdictText(report))
  const failed = allClauses(report).filter((clause) => shownStatus(clause) === 'failed')
  return failed
    .toSorted((a, b) => Number(b.level === 'required') - Number(a.level === 'required'))
    .map(annotation)
    .join('')
}
