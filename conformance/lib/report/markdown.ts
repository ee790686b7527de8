import type { CheckResult, ClauseResult, Report, SuiteReport } from '../report-types.ts'
import { type ComparedCell, type ComparedClause, type Comparison, groupByCause, sameIn } from './compare.ts'
import { escapeMarkdown, markdownFence } from './escape.ts'
import { exchangeText, tellingExchanges } from './exchange-text.ts'
import {
  documentTitle,
  seconds,
  shorten,
  shownStatus,
  type ShownStatus,
  statusSign,
  suiteText,
  suiteTitle,
  targetName,
  verdictReason,
  verdictTitle,
} from './words.ts'

// A step summary of GitHub holds 1 MiB. With these limits a report in which every check fails stays below it.
const shownExchanges = 2
const bodyLimit = 700
const messageLimit = 600

const verdictSign = { conformant: '✅', passed: '✅', nonconformant: '❌', partial: '⚠️', error: '⛔' } as const

function text(value: string): string {
  return escapeMarkdown(shorten(value, messageLimit))
}

function table(head: readonly string[], rows: readonly (readonly string[])[]): string[] {
  return [head, head.map(() => '---'), ...rows].map((cells) => `| ${cells.join(' | ')} |`)
}

function failedCheck(check: CheckResult): string[] {
  const lines = [`- **${text(check.title)}**`]
  if (check.error) {
    lines.push(`  - ${text(check.error.message)}`)
    if (check.error.expected !== undefined) lines.push(`  - expected: ${text(check.error.expected)}`)
    if (check.error.actual !== undefined) lines.push(`  - actual: ${text(check.error.actual)}`)
  }
  const exchanges = tellingExchanges(check, shownExchanges).map((exchange) => {
    const { request, response } = exchangeText(exchange, { bodyLimit, headers: false })
    return `${request}\n\n${response}`
  })
  if (exchanges.length === 0) return lines
  // GitHub takes a fence inside a list item only when every line has the item's indentation, so the fence is not
  // indented.
  return [
    ...lines,
    '',
    '<details><summary>Request and answer</summary>',
    '',
    markdownFence(exchanges.join('\n\n')),
    '',
    '</details>',
    '',
  ]
}

function failures(clauses: readonly ClauseResult[], status: ShownStatus, title: string): string[] {
  const concerned = clauses.filter((clause) => shownStatus(clause) === status)
  if (concerned.length === 0) return []
  return [
    `### ${title}`,
    '',
    ...groupByCause(concerned).flatMap((cause) => [
      ...cause.clauses.flatMap(failedClause),
      ...cause.failures.flatMap(({ check, others }) => [
        ...failedCheck(check),
        ...(others.length > 0 ? [text(sameIn(others)), ''] : []),
      ]),
      '',
    ]),
  ]
}

function failedClause({ id, level, section, text: sentence, known }: ClauseResult): string[] {
  return [
    `#### ${escapeMarkdown(id)} (${level}, section ${escapeMarkdown(section)})`,
    '',
    `> ${text(sentence)}`,
    '',
    ...(known ? [`Known: ${text(known.reason)} ${text(known.link ?? '')}`, ''] : []),
  ]
}

function section(title: string, head: readonly string[], rows: readonly (readonly string[])[]): string[] {
  return rows.length === 0 ? [] : [`### ${title}`, '', ...table(head, rows), '']
}

function reasonsOf(clause: ClauseResult): string {
  const reasons = clause.tests.flatMap((check) => (check.status === 'untestable' && check.reason) || [])
  return [...new Set(reasons)].join('; ') || 'no check of this clause was made'
}

/**
 * The report in Markdown, for a step summary: verdict, counts, failures with request and answer, untestable clauses,
 * observations and all clauses.
 */
export function renderMarkdown(report: Report): string {
  const { clauses, suites = [] } = report
  const stale = report.staleExpectedFailures ?? []
  return [
    `## ${verdictSign[report.verdict]} ${verdictTitle(report)}: ${escapeMarkdown(targetName(report.target))}`,
    '',
    `${escapeMarkdown(verdictReason(report))} (edition ${report.suite.edition}, ${seconds(report.durationMs)}).`,
    '',
    ...(clauses.length > 0 ? countsTable(report.summary) : []),
    ...report.notes.flatMap((note) => [`> ${text(note)}`, '']),
    ...failures(clauses, 'failed', 'Failed'),
    ...failures(clauses, 'known', 'Failed as expected'),
    ...section(
      'Stale in the expected failures',
      ['clause', 'why'],
      stale.map(({ id, why }) => [escapeMarkdown(id), text(why)]),
    ),
    ...untestables(clauses),
    ...observations(clauses),
    ...(clauses.length > 0 ? allOfThem(clauses) : []),
    ...suites.flatMap(suitePart),
  ].join('\n')
}

function allOfThem(clauses: readonly ClauseResult[]): string[] {
  const tables = (['eth-rpc', 'relay', 'client'] as const).flatMap((document) => {
    const ofDocument = clauses.filter((clause) => clause.document === document)
    return ofDocument.length === 0 ? [] : [`**${documentTitle[document]}**`, '', ...clauseTable(ofDocument)]
  })
  return ['<details><summary>All clauses</summary>', '', ...tables, '</details>', '']
}

/** What a suite of somebody else says. */
function suitePart(suite: SuiteReport): string[] {
  const { clauses, summary } = suite
  return [
    `## ${escapeMarkdown(suiteTitle(suite))}`,
    '',
    `${escapeMarkdown(suiteText(suite))}.`,
    '',
    ...countsTable(summary),
    ...failures(clauses, 'failed', 'Failed'),
    ...failures(clauses, 'known', 'Failed as expected'),
    ...untestables(clauses),
    ...observations(clauses),
    ...clauseTable(clauses),
  ]
}

function countsTable({ required, recommended, unspecified }: SuiteReport['summary']): string[] {
  const three = (name: string, counts: typeof required): string[] => [
    name,
    ...[counts.passed, counts.failed, counts.untestable].map(String),
    '',
  ]
  return [
    ...table(
      ['', 'passed', 'failed', 'untestable', 'observed'],
      [
        three('required', required),
        three('recommended', recommended),
        ['unspecified', '', '', `${unspecified.untestable}`, `${unspecified.observed}`],
      ],
    ),
    '',
  ]
}

function untestables(clauses: readonly ClauseResult[]): string[] {
  return section(
    'Could not be tested',
    ['clause', 'level', 'why'],
    clauses
      .filter((clause) => clause.status === 'untestable')
      .map((clause) => [escapeMarkdown(clause.id), clause.level, text(reasonsOf(clause))]),
  )
}

function observations(clauses: readonly ClauseResult[]): string[] {
  return section(
    'Observations',
    ['clause', 'seen'],
    clauses
      .filter((clause) => clause.observation)
      .map((clause) => [escapeMarkdown(clause.id), text(clause.observation ?? '')]),
  )
}

function clauseTable(clauses: readonly ClauseResult[]): string[] {
  const rows = clauses.map((clause) => {
    const status = shownStatus(clause)
    return [`${statusSign[status]} ${status}`, escapeMarkdown(clause.id), clause.level, text(clause.text)]
  })
  return [...table(['status', 'clause', 'level', 'sentence'], rows), '']
}

const detailLimit = 300

function cellText(cell: ComparedCell | undefined, withDetail: boolean): string {
  if (!cell) return '-'
  const detail = withDetail && cell.detail ? `: ${escapeMarkdown(shorten(cell.detail, detailLimit))}` : ''
  return `${statusSign[cell.status]} ${cell.status}${detail}`
}

function comparisonTable({ reports }: Comparison, rows: readonly ComparedClause[], withDetail: boolean): string[] {
  const head = ['clause', 'level', ...reports.map(({ name }) => escapeMarkdown(name))]
  const body = rows.map((row) => [
    escapeMarkdown(row.id),
    row.level,
    ...row.cells.map((cell) => cellText(cell, withDetail)),
  ])
  return table(head, body)
}

/** Several reports in one Markdown text, differences first. */
export function compareMarkdown(comparison: Comparison): string {
  const { reports, differences, same, incomplete } = comparison
  const folded = (title: string, rows: readonly ComparedClause[]) =>
    rows.length === 0
      ? []
      : [
          `<details><summary>${title} (${rows.length})</summary>`,
          '',
          ...comparisonTable(comparison, rows, false),
          '',
          '</details>',
          '',
        ]
  return [
    `## Touchstone: ${reports.length} reports side by side`,
    '',
    ...reports.map(
      ({ name, report }) =>
        `- **${escapeMarkdown(name)}** (${escapeMarkdown(targetName(report.target))}): ${verdictTitle(report)}, ${verdictReason(report)}`,
    ),
    '',
    `### Differences (${differences.length})`,
    '',
    ...comparisonTable(comparison, differences, true),
    '',
    ...folded('The same for all', same),
    ...folded('Not in all of them', incomplete),
  ].join('\n')
}
