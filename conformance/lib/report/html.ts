import type { ClauseResult, Report, SuiteReport } from '../report-types.ts'
import { allClauses } from '../verdict.ts'
import { groupByCause, type SharedCause } from './causes.ts'
import { tellingExchanges } from './exchange-text.ts'
import { clauseArticle, clauseName, exchangeMarkup, valuesMarkup } from './html/clause.ts'
import { clauseFilters, filterScript } from './html/filters.ts'
import { markup, type Markup } from './html/markup.ts'
import { htmlPage } from './html/page.ts'
import { countsMarkup, factsMarkup, navigationMarkup, notesMarkup, summaryMarkup } from './html/summary.ts'
import { shorten } from './layout.ts'
import { documentTitle, observationsOf, shownStatus, suiteText, suiteTitle, targetName, verdictTitle } from './words.ts'

const messageLimit = 4000
const observationLimit = 2000

type LinkOf = (id: string) => string | undefined

interface Section {
  readonly id: string
  readonly title: string
  readonly content: Markup
}

function failedClause(clause: ClauseResult): Markup {
  const note = clause.known ? 'known' : clause.level === 'required' ? 'required' : `${clause.level}, a warning`
  return markup`<a class="id" href="#${clause.id}">${clauseName(clause.id)}</a> <span class="muted">${note}</span>`
}

/** Clauses that failed for one cause: the first with the check that shows it, the others by name. */
function failure({ clauses: [first, ...others], failures }: SharedCause): Markup {
  const { check, others: alike } = failures[0] ?? {}
  if (!first || !check) return markup``
  const isFault = [first, ...others].some(({ level, known }) => level === 'required' && !known)
  const same = others.map((clause) => markup`<li>${failedClause(clause)}</li>`)
  return markup`<li${isFault ? undefined : markup` class="warning"`}>${failedClause(first)}
<p class="muted">${first.text}</p>
<p class="message">${shorten(check.error?.message ?? 'failed', messageLimit)}</p>
${check.error && valuesMarkup(check.error)}${tellingExchanges(check, 1).map((exchange) => exchangeMarkup(exchange, check.exchanges.indexOf(exchange), true))}${
    alike && alike.length > 0
      ? markup`<p class="muted">The same in ${alike.length} other check${alike.length === 1 ? '' : 's'}.</p>`
      : undefined
  }${same.length > 0 ? markup`<p>For the same cause:</p><ul>${same}</ul>` : undefined}</li>
`
}

function observation(clause: ClauseResult): Markup {
  return markup`<div><dt><a class="id" href="#${clause.id}">${clauseName(clause.id)}</a><p class="muted">${clause.text}</p></dt>
${observationsOf(clause).map((text) => markup`<dd class="answer message">${shorten(text, observationLimit)}</dd>`)}</div>
`
}

function checks(clauses: readonly ClauseResult[], linkOf?: LinkOf): Markup {
  const documents = [...new Set(clauses.map((clause) => clause.document))]
  return markup`${documents.map(
    (document) => markup`<h3 data-group="${document}">${document}: ${documentTitle[document]}</h3>
${clauses.filter((clause) => clause.document === document).map((clause) => clauseArticle(clause, linkOf?.(clause.id)))}`,
  )}`
}

function transactions(report: Report): Markup {
  return markup`<details><summary>Hashes, clauses and gas</summary><div class="scroll" tabindex="0" role="region" aria-label="Transactions"><table><thead><tr><th scope="col">Hash</th><th scope="col">Clause</th><th scope="col">Status</th><th scope="col">Gas used</th></tr></thead>
<tbody>${report.transactions.map(
    (caused) =>
      markup`<tr><th scope="row" class="id">${caused.hash}</th><td><a class="id" href="#${caused.clause}">${clauseName(caused.clause)}</a></td><td>${caused.status ?? 'not asked'}</td><td>${caused.gasUsed}</td></tr>`,
  )}</tbody></table></div></details>`
}

/** `Failures (2 required, 1 recommended)`: the same counts as the verdict's sentence. */
function failuresTitle(failed: readonly ClauseResult[]): string {
  const levels = ['required', 'recommended'] as const
  const counts = levels.map((level) => [failed.filter((clause) => clause.level === level).length, level] as const)
  return `Failures (${counts.flatMap(([count, level]) => (count === 0 ? [] : `${count} ${level}`)).join(', ')})`
}

function sections(report: Report, linkOf?: LinkOf): Section[] {
  const { suites = [] } = report
  const failed = report.clauses.filter((clause) => clause.status === 'failed')
  const observed = report.clauses.filter(({ status }) => status === 'observed')
  const found: (Section | false)[] = [
    failed.length > 0 && {
      id: 'failures',
      title: failuresTitle(failed),
      content: markup`<ul class="failures">${groupByCause(failed.toSorted((a, b) => rank(a) - rank(b))).map(failure)}</ul>`,
    },
    {
      id: 'counts',
      title: 'Counts',
      content: markup`${notesMarkup(report)}${countsMarkup(report.summary)}${factsMarkup(report)}`,
    },
    {
      id: 'clauses',
      title: `Clauses (${report.clauses.length})`,
      content: markup`${clauseFilters(allClauses(report).map((clause) => ({ ...clause, status: shownStatus(clause) })))}${checks(report.clauses, linkOf)}`,
    },
    ...suites.map((suite) => suiteSection(suite, linkOf)),
    observed.length > 0 && {
      id: 'observations',
      title: `Observations, without a verdict (${observed.length})`,
      content: markup`<details><summary>What was seen where the documents are silent</summary><dl class="observations">${observed.map(observation)}</dl></details>`,
    },
    report.transactions.length > 0 && {
      id: 'transactions',
      title: `Transactions caused (${report.transactions.length})`,
      content: transactions(report),
    },
  ]
  return found.filter((section) => section !== false)
}

/** What a suite of somebody else says of the target. */
function suiteSection(suite: SuiteReport, linkOf?: LinkOf): Section {
  const { prefix, summary, clauses } = suite
  const failed = clauses.filter(({ status }) => status === 'failed')
  return {
    id: `suite-${prefix}`,
    title: suiteTitle(suite),
    content: markup`<p>${suiteText(suite)}.</p>
${countsMarkup(summary)}${failed.length > 0 ? markup`<ul class="failures">${groupByCause(failed).map(failure)}</ul>` : undefined}
${clauses.map((clause) => clauseArticle(clause, linkOf?.(clause.id)))}`,
  }
}

/** Sorts required failures first, and expected failures last. */
function rank(clause: ClauseResult): number {
  return (clause.level === 'required' ? 0 : 1) + (shownStatus(clause) === 'known' ? 2 : 0)
}

/**
 * The report as one HTML page that loads nothing: verdict, failures, counts, every clause with its checks and
 * exchanges, and observations. Whatever the target answered is text in the page.
 *
 * @param linkOf the page about a clause of all relays; undefined: there is none
 */
export function renderHtml(report: Report, linkOf?: LinkOf): string {
  const parts = sections(report, linkOf)
  const links = parts.map(({ id, title }) => ({ href: `#${id}`, text: title }))
  return htmlPage({
    title: `${verdictTitle(report)}: ${targetName(report.target)}`,
    script: filterScript,
    body: markup`<a class="skip" href="#clauses">Skip to the clauses</a>
${summaryMarkup(report)}
<main>
${parts.map(
  ({ id, title, content }) => markup`<section aria-labelledby="${id}">
<h2 id="${id}" tabindex="-1">${title}</h2>
${content}${id === 'counts' ? navigationMarkup(links) : undefined}
</section>
`,
)}</main>
<footer>Made by touchstone ${report.suite.version}. Long bodies are shortened here; the JSON report of the same run holds more of them.</footer>`,
  })
}
