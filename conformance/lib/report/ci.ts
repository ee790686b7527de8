import type { CheckResult, ClauseResult, Report, Verdict } from '../report-types.ts'
import { allClauses } from '../verdict.ts'
import { escapeXml, escapeXmlAttribute, visibleControls } from './escape.ts'
import { exchangeText, tellingExchanges } from './exchange-text.ts'
import { shorten, shownStatus, targetName, verdictText, verdictTitle, verdictWord } from './words.ts'

/** Shows the exchange with the fault and two others. The JSON and HTML reports hold all. */
const shownExchanges = 3
const bodyLimit = 2000

type Outcome = 'passed' | 'failure' | 'error' | 'skipped'

interface TestCase {
  readonly classname: string
  readonly name: string
  readonly durationMs: number
  readonly outcome: Outcome
  readonly type?: string
  readonly message?: string
  readonly detail?: string
  readonly output?: string
}

function detailOf(clause: ClauseResult, check: CheckResult): string {
  const lines = [`${clause.id} (${clause.level}, section ${clause.section})`, clause.text, '']
  if (check.error) {
    lines.push(check.error.message)
    if (check.error.expected !== undefined) lines.push(`expected: ${check.error.expected}`)
    if (check.error.actual !== undefined) lines.push(`actual:   ${check.error.actual}`)
  }
  for (const exchange of tellingExchanges(check, shownExchanges)) {
    const { request, response } = exchangeText(exchange, { bodyLimit, headers: true })
    lines.push('', '--- request', request, '--- answer', response)
  }
  return lines.join('\n')
}

function testCase(clause: ClauseResult, check: CheckResult): TestCase {
  const output = check.observations?.join('\n')
  const base = {
    classname: clause.id,
    name: check.title,
    durationMs: check.durationMs,
    ...(output ? { output } : {}),
  }
  if (check.status === 'untestable') return { ...base, outcome: 'skipped', message: check.reason ?? 'untestable' }
  if (check.status !== 'failed') return { ...base, outcome: 'passed' }
  const message = check.error?.message ?? 'failed'
  if (clause.known) return { ...base, outcome: 'skipped', message: `known failure, ${clause.known.reason}: ${message}` }
  return { ...base, outcome: 'failure', type: clause.level, message, detail: detailOf(clause, check) }
}

function testCases(clause: ClauseResult): TestCase[] {
  if (clause.tests.length > 0) return clause.tests.map((check) => testCase(clause, check))
  const message = 'no check of this clause was made'
  return [{ classname: clause.id, name: clause.id, durationMs: 0, outcome: 'skipped', message }]
}

/** The faults of the run itself, so that a program that reads this file alone does not see success. */
function runCases(report: Report): TestCase[] {
  const stale = (report.staleExpectedFailures ?? []).map((entry): TestCase => ({
    classname: 'expected-failures',
    name: entry.id,
    durationMs: 0,
    outcome: 'failure',
    type: 'stale',
    message: entry.why,
  }))
  if (report.verdict !== 'error') return stale
  const message = report.notes.join('; ') || 'the suite could not judge'
  return [...stale, { classname: 'run', name: 'the suite can judge', durationMs: 0, outcome: 'error', message }]
}

/** XML can hold most control characters, which a viewer would obey. */
const content = (text: string): string => escapeXml(visibleControls(text))
const attribute = (text: string): string => escapeXmlAttribute(visibleControls(text))

function render(test: TestCase): string {
  const time = (test.durationMs / 1000).toFixed(3)
  const open = `    <testcase classname="${attribute(test.classname)}" name="${attribute(test.name)}" time="${time}"`
  const inner: string[] = []
  if (test.outcome !== 'passed') {
    const type = test.type === undefined ? '' : ` type="${attribute(test.type)}"`
    const tag = `      <${test.outcome}${type} message="${attribute(test.message ?? '')}"`
    inner.push(test.detail === undefined ? `${tag}/>` : `${tag}>${content(test.detail)}</${test.outcome}>`)
  }
  if (test.output !== undefined) inner.push(`      <system-out>${content(test.output)}</system-out>`)
  return inner.length === 0 ? `${open}/>` : `${open}>\n${inner.join('\n')}\n    </testcase>`
}

function counts(tests: readonly TestCase[]): string {
  const of = (outcome: Outcome) => tests.filter((test) => test.outcome === outcome).length
  const time = (tests.reduce((sum, test) => sum + test.durationMs, 0) / 1000).toFixed(3)
  return `tests="${tests.length}" failures="${of('failure')}" errors="${of('error')}" skipped="${of('skipped')}" time="${time}"`
}

/**
 * JUnit XML: one suite for each document and each suite of somebody else, and one test case for each check. The `type` of a failure is the level of
 * the clause. Untestable checks and expected failures are skipped.
 */
export function renderJunit(report: Report): string {
  const documents = [...new Set(report.clauses.map((clause) => clause.document))]
  const suites: { name: string; tests: TestCase[] }[] = documents.map((name) => ({
    name,
    tests: report.clauses.filter((clause) => clause.document === name).flatMap(testCases),
  }))
  for (const { prefix, clauses } of report.suites ?? []) {
    suites.push({ name: prefix, tests: clauses.flatMap(testCases) })
  }
  const ofRun = runCases(report)
  if (ofRun.length > 0) suites.push({ name: 'run', tests: ofRun })
  const properties = Object.entries({
    target: targetName(report.target),
    edition: report.suite.edition,
    version: report.suite.version,
    verdict: report.verdict,
  }).map(([name, value]) => `      <property name="${name}" value="${attribute(value)}"/>`)
  return [
    '<?xml version="1.0" encoding="UTF-8"?>',
    `<testsuites name="touchstone" ${counts(suites.flatMap(({ tests }) => tests))}>`,
    ...suites.flatMap(({ name, tests }) => [
      `  <testsuite name="${name}" timestamp="${attribute(report.startedAt.replace(/Z$/, ''))}" ${counts(tests)}>`,
      '    <properties>',
      ...properties,
      '    </properties>',
      ...tests.map(render),
      '  </testsuite>',
    ]),
    '</testsuites>',
    '',
  ].join('\n')
}

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

const label = 'LSP15 relay'

/** White text has the contrast of WCAG AA on each of these colours. */
const colours: Readonly<Record<Verdict, string>> = {
  conformant: '#1a7f37',
  passed: '#1a7f37',
  nonconformant: '#cf222e',
  partial: '#8a5a00',
  error: '#57606a',
}

/** `conformant, 55 of 55`: the verdict, and how many of the required clauses that ran passed. */
function messageOf({ verdict, summary }: Report): string {
  const { passed, failed, untestable } = summary.required
  const word = verdictWord[verdict].toLowerCase()
  return verdict === 'error' ? word : `${word}, ${passed} of ${passed + failed + untestable}`
}

/** The average width of a letter in px at 11 px. The text is stretched to the width that this gives. */
const letterPx = 6.2
const widthOf = (text: string): number => Math.round(text.length * letterPx) + 12

/** The badge as an SVG image, which loads no font and no other file. */
function svg(report: Report): string {
  const message = messageOf(report)
  const [left, right] = [widthOf(label), widthOf(message)]
  const title = escapeXml(visibleControls(`${label}: ${message}`))
  const text = (content: string, x: number, width: number): string =>
    `<text x="${x + 6}" y="14" textLength="${width - 12}" lengthAdjust="spacingAndGlyphs">${escapeXml(content)}</text>`
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${left + right}" height="20" role="img" aria-label="${title}">
<title>${title}</title>
<clipPath id="r"><rect width="${left + right}" height="20" rx="3"/></clipPath>
<g clip-path="url(#r)"><rect width="${left}" height="20" fill="#444c56"/><rect x="${left}" width="${right}" height="20" fill="${colours[report.verdict]}"/></g>
<g fill="#fff" font-family="Verdana,DejaVu Sans,sans-serif" font-size="11">${text(label, 0, left)}${text(message, left, right)}</g>
</svg>
`
}

/** The JSON that https://shields.io/badges/endpoint-badge reads from a URL. */
function shields(report: Report): string {
  const badge = { schemaVersion: 1, label, message: messageOf(report), color: colours[report.verdict] }
  return `${JSON.stringify({ ...badge, isError: report.verdict === 'error' }, null, 2)}\n`
}

/** The formats of `--badge <format>=<file>` and their renderers. */
export const badgeRenderers = { svg, shields } as const satisfies Record<string, (report: Report) => string>

export type BadgeFormat = keyof typeof badgeRenderers

export const badgeFormats = Object.keys(badgeRenderers) as readonly BadgeFormat[]
