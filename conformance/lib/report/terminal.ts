import type { CheckResult, ClauseResult, Report } from '../report-types.ts'
import { visibleControls } from './visible-controls.ts'
import { exchangeText } from './exchange-text.ts'
import { shorten } from './shorten.ts'
import { paintedSign, painter, type Paint } from './terminal-style.ts'
import { tellingExchanges } from './telling-exchanges.ts'
import { verdictText, verdictTitle } from './verdict-line.ts'
import { observationsOf, shownStatus, type ShownStatus } from './words.ts'
import { wrap } from './wrap.ts'

/** The exchange that shows the fault and one beside it; the others are in the JSON and HTML reports. */
const shownExchanges = 2
const bodyLimit = 600
const messageLimit = 1200

interface Page {
  readonly paint: Paint
  readonly width: number
  readonly lines: string[]
}

export interface TerminalOptions {
  readonly colour: boolean
  /** Columns; text is broken at this width. */
  readonly width?: number
}

/** @param bullet stands in the first line in place of the end of its indentation */
function put(page: Page, text: string, indent = '', bullet = ''): void {
  const lines = wrap(visibleControls(text), page.width, indent)
  page.lines.push(bullet === '' ? lines : `${indent.slice(2)}${bullet} ${lines.slice(indent.length)}`)
}

function heading(page: Page, text: string): void {
  page.lines.push('', page.paint('bold', text))
}

function labelled(page: Page, label: string, text: string): void {
  const [first = '', ...rest] = wrap(visibleControls(shorten(text, messageLimit)), page.width - 14, '').split('\n')
  page.lines.push(`      ${page.paint('dim', label.padEnd(10))} ${first}`, ...rest.map((line) => ' '.repeat(17) + line))
}

function failedCheck(page: Page, check: CheckResult): void {
  put(page, check.title, '      ', '•')
  if (check.error) {
    put(page, shorten(check.error.message, messageLimit), '      ')
    if (check.error.expected !== undefined) labelled(page, 'expected', check.error.expected)
    if (check.error.actual !== undefined) labelled(page, 'actual', check.error.actual)
  }
  const leftOut = check.exchanges.length - shownExchanges
  if (leftOut > 0) put(page, `(${leftOut} other requests of this check are in the JSON and HTML reports)`, '      ')
  for (const exchange of tellingExchanges(check, shownExchanges)) {
    const { request, response } = exchangeText(exchange, { bodyLimit, headers: false })
    labelled(page, 'request', request)
    labelled(page, 'answer', response)
  }
}

function failures(page: Page, clauses: readonly ClauseResult[], status: ShownStatus, title: string): void {
  const concerned = clauses.filter((clause) => shownStatus(clause) === status)
  if (concerned.length === 0) return
  heading(page, `${title} (${concerned.length})`)
  for (const clause of concerned) {
    const note = clause.level === 'required' ? '' : ', a warning'
    page.lines.push(
      '',
      `  ${paintedSign(status, page.paint)} ${page.paint('bold', clause.id)}` +
        page.paint('dim', `  ${clause.level}${note}, section ${clause.section}`),
    )
    put(page, clause.text, '    ')
    if (clause.known) {
      put(page, `known: ${clause.known.reason}${clause.known.link ? ` (${clause.known.link})` : ''}`, '    ')
    }
    for (const check of clause.tests) if (check.status === 'failed') failedCheck(page, check)
  }
}

/** Reasons first, since one missing need makes many clauses untestable. */
function untestables(page: Page, clauses: readonly ClauseResult[]): void {
  const byReason = new Map<string, string[]>()
  for (const clause of clauses) {
    if (clause.status !== 'untestable') continue
    const reasons = clause.tests.flatMap((check) => (check.status === 'untestable' && check.reason) || [])
    for (const reason of new Set(reasons.length > 0 ? reasons : ['no check of this clause was made'])) {
      byReason.set(reason, [...(byReason.get(reason) ?? []), clause.id])
    }
  }
  if (byReason.size === 0) return
  heading(page, `Could not be tested (${clauses.filter((clause) => clause.status === 'untestable').length})`)
  for (const [reason, ids] of byReason) {
    put(page, shorten(reason, messageLimit), '    ', paintedSign('untestable', page.paint))
    put(page, ids.join(', '), '      ')
  }
}

function observations(page: Page, clauses: readonly ClauseResult[]): void {
  const concerned = clauses.filter((clause) => clause.observation)
  if (concerned.length === 0) return
  heading(page, `Observations, without a verdict (${concerned.length})`)
  for (const clause of concerned) {
    page.lines.push(`  ${paintedSign('observed', page.paint)} ${clause.id}`)
    for (const text of observationsOf(clause)) put(page, shorten(text, messageLimit), '      ')
  }
}

/** What stands above the verdict: what the run cost, and what a reader must know to trust it. */
function remarks(page: Page, report: Report): void {
  const lines = report.notes.map((note) => `note: ${note}`)
  for (const { id, why } of report.staleExpectedFailures ?? [])
    lines.push(`stale in the expected failures: ${id}: ${why}`)
  if (report.transactions.length > 0) lines.push(`transactions caused: ${report.transactions.length}`)
  if (lines.length > 0) page.lines.push('')
  for (const line of lines) put(page, line)
}

function tally(page: Page, report: Report): void {
  const { required, recommended, unspecified } = report.summary
  const row = (name: string, counts: [number, string][]) =>
    `  ${name.padEnd(12)} ${counts.map(([count, word]) => `${String(count).padStart(4)} ${word}`).join('  ')}`
  const three = (counts: typeof required): [number, string][] => [
    [counts.passed, 'passed'],
    [counts.failed, 'failed'],
    [counts.untestable, 'untestable'],
  ]
  page.lines.push(
    '',
    row('required', three(required)),
    row('recommended', three(recommended)),
    row('unspecified', [
      [unspecified.observed, 'observed'],
      [unspecified.untestable, 'untestable'],
    ]),
  )
}

/**
 * What a person reads when a run is over: failures with sentence, expectation, request and answer; what could not be
 * tested; observations; and the verdict in the last line.
 */
export function renderTerminal(report: Report, options: TerminalOptions): string {
  const page: Page = { paint: painter(options.colour), width: Math.max(40, options.width ?? 100), lines: [] }
  // Where nothing could be judged, the verdict's sentence says all.
  if (report.verdict !== 'error') {
    failures(page, report.clauses, 'failed', 'Failed')
    failures(page, report.clauses, 'known', 'Failed as expected')
    untestables(page, report.clauses)
    observations(page, report.clauses)
    remarks(page, report)
    tally(page, report)
  }
  const colour =
    report.verdict === 'conformant' || report.verdict === 'passed'
      ? 'green'
      : report.verdict === 'partial'
        ? 'yellow'
        : 'red'
  const title = page.paint(['bold', colour], verdictTitle(report))
  page.lines.push('', `${title}: ${visibleControls(verdictText(report))}`, '')
  return page.lines.join('\n')
}
