import { styleText } from 'node:util'
import type { CheckResult, ClauseResult, Report, SuiteReport } from '../report-types.ts'
import { allClauses } from '../verdict.ts'
import { type ComparedCell, type ComparedClause, type Comparison, groupByCause, sameIn } from './compare.ts'
import { visibleControls } from './escape.ts'
import { exchangeText, tellingExchanges } from './exchange-text.ts'
import {
  observationsOf,
  shorten,
  shownStatus,
  type ShownStatus,
  statusSign,
  suiteText,
  targetName,
  verdictReason,
  verdictText,
  verdictTitle,
  wrap,
} from './words.ts'

/** Shows the exchange with the fault and one other. The JSON and HTML reports hold all. */
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
  /** The width of the terminal in columns. */
  readonly width?: number
  /** Shows observations, expected failures and untestable clauses in full; absent: only their numbers. */
  readonly verbose?: boolean
  /** Shows only failures and the verdict. */
  readonly quiet?: boolean
  /**
   * The command that was run, without the options that select clauses. It is shown to run the failed clauses again.
   * Absent: made from the report.
   */
  readonly command?: string
}

/** @param bullet replaces the end of the indentation in the first line */
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
  for (const cause of groupByCause(concerned)) {
    page.lines.push('')
    for (const clause of cause.clauses) {
      const note = clause.level === 'required' ? '' : ', a warning'
      page.lines.push(
        `  ${paintedSign(status, page.paint)} ${page.paint('bold', clause.id)}` +
          page.paint('dim', `  ${clause.level}${note}, section ${clause.section}`),
      )
      put(page, clause.text, '    ')
      if (clause.known) {
        put(page, `known: ${clause.known.reason}${clause.known.link ? ` (${clause.known.link})` : ''}`, '    ')
      }
    }
    for (const { check, others } of cause.failures) {
      failedCheck(page, check)
      if (others.length > 0) put(page, shorten(sameIn(others), messageLimit), '      ')
    }
  }
}

/** The ids of the clauses that failed, and the command that checks them again. */
function again(page: Page, report: Report, command: string): void {
  const failed = allClauses(report).filter((clause) => shownStatus(clause) === 'failed')
  if (failed.length === 0) return
  const required = failed.filter(({ level }) => level === 'required')
  const line = `${command} --only ${(required.length > 0 ? required : failed).map(({ id }) => id).join(',')}${clientOf(report)}`
  heading(page, 'Failed')
  for (const { id, level } of failed) {
    page.lines.push(
      `  ${paintedSign('failed', page.paint)} ${id}${level === 'required' ? '' : page.paint('dim', '  recommended')}`,
    )
  }
  // The line is not broken, so that it can be copied.
  page.lines.push(`  again: ${visibleControls(line)}`)
}

/** The command of the client, which stands behind all options. */
function clientOf({ target: { client } }: Report): string {
  return client === undefined ? '' : ` -- ${client}`
}

/** The command that checks the target of a report, as far as the report tells it. */
function commandFor({ target: { relayUrl, ethRpcUrl, client } }: Report): string {
  if (client !== undefined) return 'npx touchstone judge-client'
  if (relayUrl === null) return `npx touchstone check ${ethRpcUrl} --no-relay`
  const other = ethRpcUrl === null ? ' --no-eth-rpc' : ethRpcUrl === relayUrl ? '' : ` --eth-rpc-url ${ethRpcUrl}`
  return `npx touchstone check ${relayUrl}${other}`
}

/** Untestable clauses by reason, since one missing need makes many clauses untestable. */
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

/** The lines above the verdict: notes, stale entries and the number of transactions. */
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
 * The report for a terminal. What matters most stands last: observations, on demand; untestable clauses; failures
 * with sentence, expectation, request and answer, required ones after the others; the ids of the failures, with the
 * command that checks them again; and the verdict in the last line.
 */
export function renderTerminal(report: Report, options: TerminalOptions): string {
  const { verbose = false, quiet = false, command = commandFor(report) } = options
  const page: Page = { paint: painter(options.colour), width: Math.max(40, options.width ?? 100), lines: [] }
  // When the suite could not judge, the sentence of the verdict says everything.
  if (report.verdict !== 'error') {
    const ofLevel = (isRequired: boolean) => report.clauses.filter(({ level }) => (level === 'required') === isRequired)
    if (!quiet) {
      if (verbose) observations(page, report.clauses)
      untestables(page, report.clauses)
      failures(page, report.clauses, 'known', 'Failed as expected')
    }
    for (const suite of report.suites ?? []) suitePart(page, suite, { quiet, verbose })
    failures(page, ofLevel(false), 'failed', 'Recommendations not met')
    failures(page, ofLevel(true), 'failed', 'Failed, required')
    if (!quiet) {
      remarks(page, report)
      if (!verbose && report.clauses.some(({ observation }) => observation)) {
        page.lines.push('', page.paint('dim', 'Observations: --verbose and the reports show them.'))
      }
      if (report.clauses.length > 0) tally(page, report)
    }
    const lines = (report.suites ?? []).map(suiteText)
    if (lines.length > 0) page.lines.push('', ...lines.map(visibleControls))
    again(page, report, command)
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

/** What a suite of somebody else found. Its counts stand near the verdict. */
function suitePart(
  page: Page,
  { prefix, clauses }: SuiteReport,
  { quiet, verbose }: Required<Pick<TerminalOptions, 'quiet' | 'verbose'>>,
): void {
  if (!quiet) {
    if (verbose) observations(page, clauses)
    untestables(page, clauses)
    failures(page, clauses, 'known', `${prefix}: failed as expected`)
  }
  failures(page, clauses, 'failed', `${prefix}: failed`)
}

const detailLimit = 300

function signs(cells: readonly (ComparedCell | undefined)[], paint: Paint): string {
  return cells.map((cell) => (cell ? paintedSign(cell.status, paint) : '-').padStart(1)).join('  ')
}

function differing(row: ComparedClause, { reports }: Comparison, paint: Paint, width: number): string[] {
  const details = row.cells.map((cell, index) => {
    const detail = cell?.detail.replaceAll('\n', '; ')
    const said = cell ? `${cell.status}${detail ? `: ${shorten(detail, detailLimit)}` : ''}` : 'not in the report'
    return wrap(visibleControls(`${reports[index]?.name}: ${said}`), width, '        ')
  })
  return [`  ${signs(row.cells, paint)}  ${paint('bold', row.id)}  ${paint('dim', row.level)}`, ...details]
}

/** The target, when the name of a report is the name of its file. */
function otherName(name: string, { target }: Report): string {
  return targetName(target) === name ? '' : `  ${visibleControls(targetName(target))}`
}

/**
 * Several reports for a terminal: their names and verdicts, the differences with details, and one line for each
 * other clause.
 */
export function compareTerminal(comparison: Comparison, options: TerminalOptions): string {
  const paint = painter(options.colour)
  const width = Math.max(40, options.width ?? 100)
  const { reports, differences, same, incomplete } = comparison
  const lines = (title: string, rows: readonly ComparedClause[]) =>
    rows.length === 0
      ? []
      : [
          '',
          paint('bold', `${title} (${rows.length})`),
          ...rows.map((row) => `  ${signs(row.cells, paint)}  ${row.id}`),
        ]
  return [
    ...reports.flatMap(({ name, report }, index) => [
      `${index + 1}. ${paint('bold', visibleControls(name))}${otherName(name, report)}`,
      `   ${verdictTitle(report)}: ${verdictReason(report)}`,
    ]),
    '',
    paint('bold', `Differences (${differences.length})`),
    ...differences.flatMap((row) => differing(row, comparison, paint, width)),
    ...lines('The same for all', same),
    ...lines('Not in all of them', incomplete),
    '',
    paint('dim', '✓ passed  ✗ failed  ≈ failed as expected  ? untestable  · observed  - not in the report'),
    '',
  ].join('\n')
}

/** What a reporter needs of `process.stdout`. */
export interface TextStream {
  write(text: string): unknown
  readonly isTTY?: boolean
  readonly columns?: number
}

type Format = Parameters<typeof styleText>[0]

/** Colours a text, or returns it as it is. */
type Paint = (format: Format, text: string) => string

/**
 * Whether to use colours: only on a terminal, and not when its user has declined them.
 *
 * @see https://no-color.org
 */
export function wantsColour(stream: TextStream, env: Readonly<Record<string, string | undefined>>): boolean {
  return stream.isTTY === true && !env['NO_COLOR'] && env['TERM'] !== 'dumb'
}

export function painter(colour: boolean): Paint {
  return (format, text) => (colour ? styleText(format, text, { validateStream: false }) : text)
}

const statusFormat: Readonly<Record<ShownStatus, Format>> = {
  passed: 'green',
  failed: 'red',
  known: 'magenta',
  untestable: 'yellow',
  observed: 'cyan',
}

/** The sign of a status in its colour. */
export function paintedSign(status: ShownStatus, paint: Paint): string {
  return paint(statusFormat[status], statusSign[status])
}
