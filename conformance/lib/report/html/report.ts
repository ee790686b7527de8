import type { CheckError, CheckResult, ClauseResult, Exchange, Report, SuiteReport } from '../../report-types.ts'
import { allClauses } from '../../verdict.ts'
import { groupByCause, type SharedCause } from '../compare.ts'
import { curlOf, exchangeText, tellingExchanges } from '../exchange-text.ts'
import {
  documentTitle,
  indentJson,
  observationsOf,
  seconds,
  shorten,
  shownStatus,
  statusSign,
  suiteText,
  suiteTitle,
  targetName,
  verdictReason,
  verdictTitle,
  verdictWord,
} from '../words.ts'
import { clauseFilters, filterData, filterScript, htmlPage, markup, Markup } from './page.ts'

const messageLimit = 4000
const observationLimit = 2000

const verdictClass = {
  conformant: 'passed',
  passed: 'passed',
  nonconformant: 'failed',
  partial: 'untestable',
  error: 'failed',
} as const
const verdictSign = { conformant: '✓', passed: '✓', nonconformant: '✗', partial: '?', error: '!' } as const

/** The sign of a verdict, with its word for who sees no signs and no colours. */
export function verdictMark({ verdict }: Report): Markup {
  return markup`<span class="status ${verdictClass[verdict]}" role="img" aria-label="${verdictWord[verdict]}">${verdictSign[verdict]}</span>`
}

function facts(report: Report): (readonly [string, string])[] {
  const { target, suite, options, traffic, clock, chain, profile } = report
  return [
    ['Relay', target.relayUrl ?? 'left out'],
    ['JSON-RPC', target.ethRpcUrl ?? 'left out'],
    ['Edition', suite.edition],
    ['Requirements', suite.requirements ?? 'not recorded'],
    ['Chain', chain ? `${chain.chainId}${chain.node === undefined ? '' : `, node ${chain.node}`}` : 'not asked'],
    ['Profile', profile ? `${profile.address}, key manager ${profile.keyManager}` : 'none given'],
    ['Started', report.startedAt],
    ['Took', `${seconds(report.durationMs)}, ${traffic.requests} requests (${traffic.unanswered} unanswered)`],
    ['Options', optionsText(options)],
    ...(clock ? [['Clock', `${clock.offsetSeconds} s ahead of ours, by ${clock.measuredBy}`] as const] : []),
  ]
}

/** The facts of the run on one line, which unfolds to all of them. */
function factsMarkup(report: Report): Markup {
  const { suite, chain, profile } = report
  const line = [
    `Edition ${suite.edition}`,
    chain ? `chain ${chain.chainId}` : 'no chain',
    profile ? 'with a profile' : 'no profile',
    report.startedAt.slice(0, 10),
    seconds(report.durationMs),
  ].join(' · ')
  return markup`<details class="about"><summary>${line}</summary>
<dl class="facts">${facts(report).map(([name, value]) => markup`<dt>${name}</dt><dd>${value}</dd>`)}</dl>
</details>`
}

/** The notes of the run, and the stale entries of the expected failures. */
function notesMarkup(report: Report): Markup {
  return markup`${report.notes.map((note) => markup`<p class="note">${note}</p>`)}${(
    report.staleExpectedFailures ?? []
  ).map(
    ({ id, why }) => markup`<p class="note">Stale in the expected failures: <span class="id">${id}</span>, ${why}</p>`,
  )}`
}

/** The links to the sections of the page. */
function navigationMarkup(links: readonly { href: string; text: string }[]): Markup {
  return markup`<nav aria-label="On this page"><ul>${links.map(({ href, text }) => markup`<li><a href="${href}">${text}</a></li>`)}</ul></nav>`
}

function optionsText(options: Report['options']): string {
  return [
    `timeout ${options.timeoutMs} ms`,
    ...(options.readOnly ? ['nothing that spends'] : []),
    ...(options.only === null ? [] : [`only ${options.only}`]),
  ].join(', ')
}

/** Target and verdict: the head of the page, short enough that the failures show on the same screen. */
function summaryMarkup(report: Report): Markup {
  const { verdict } = report
  return markup`<header>
<p class="muted">${targetName(report.target)}</p>
<h1 class="${verdictClass[verdict]}"><span aria-hidden="true">${verdictSign[verdict]}</span> ${verdictTitle(report)}</h1>
<p class="lead">${verdictReason(report)}.</p>
</header>`
}

function cell(count: number): Markup {
  return markup`<td${count === 0 ? markup` class="none"` : undefined}>${count}</td>`
}

/** The counts by level, as a table. */
function countsMarkup({ required, recommended, unspecified }: SuiteReport['summary']): Markup {
  const three = (name: string, counts: typeof required) =>
    markup`<tr><th scope="row">${name}</th>${cell(counts.passed)}${cell(counts.failed)}${cell(counts.untestable)}<td></td></tr>`
  return markup`<table class="counts">
<thead><tr><td></td><th scope="col">passed</th><th scope="col">failed</th><th scope="col">untestable</th><th scope="col">observed</th></tr></thead>
<tbody>${three('required', required)}${three('recommended', recommended)}<tr><th scope="row">unspecified</th><td></td><td></td>${cell(unspecified.untestable)}${cell(unspecified.observed)}</tr></tbody>
</table>`
}

const breakHere = new Markup('<wbr>')

/** The id of a clause. A narrow column may break it after a dot or a hyphen. */
export function clauseName(id: string): Markup {
  return markup`${id.split(/(?<=[.-])/).map((part) => markup`${part}${breakHere}`)}`
}

/** Long enough for any answer but pages of logs, whose entries are alike. */
const bodyLimit = 6000

function laidOut(exchange: Exchange): Exchange {
  const { request, response } = exchange
  return {
    ...exchange,
    request: request.body === undefined ? request : { ...request, body: indentJson(request.body) },
    response: response === null ? null : { ...response, body: indentJson(response.body) },
  }
}

/** Verb and path, after the method that the body names: `eth_getLogs, POST /api/eth-rpc`, or `POST /quota`. */
function requestName({ method: verb, url, body }: Exchange['request']): string {
  const method = /"method"\s*:\s*"([\w-]{1,60})"/.exec(body ?? '')?.[1]
  const path = url.replace(/^\w+:\/\/[^/?#]*/, '').replace(/[?#].*$/, '') || '/'
  return `${method === undefined ? '' : `${method}, `}${verb} ${path}`
}

/**
 * A request and its answer, folded.
 *
 * @param showsFault whether the exchange shows why the check failed; it is then unfolded
 */
function exchangeMarkup(exchange: Exchange, index: number, showsFault = false): Markup {
  const { request, response } = exchangeText(laidOut(exchange), { bodyLimit, headers: true })
  const outcome =
    exchange.response === null ? (exchange.failure?.kind ?? 'no answer') : `HTTP ${exchange.response.status}`
  return markup`<details class="exchange"${showsFault ? markup` open` : undefined}>
<summary>Request ${index + 1}: ${requestName(exchange.request)} <span class="muted">→ ${outcome}, ${seconds(exchange.durationMs)}</span></summary>
<p class="label">Request</p>
<pre tabindex="0">${request}</pre>
<p class="label">Answer</p>
<pre tabindex="0">${response}</pre>
<details><summary>As a command</summary><pre tabindex="0">${curlOf(exchange.request)}</pre></details>
</details>`
}

/** The expected and the actual value. */
function valuesMarkup(error: CheckError): Markup | undefined {
  if (error.expected === undefined && error.actual === undefined) return undefined
  return markup`<dl class="values">
<dt>expected</dt><dd class="message"><code>${shorten(error.expected ?? 'not said', messageLimit)}</code></dd>
<dt>actual</dt><dd class="message"><code>${shorten(error.actual ?? 'not said', messageLimit)}</code></dd>
</dl>`
}

/** The exchanges of a check. The one that shows the fault comes first, unfolded; the others follow in their order. */
function exchangesMarkup({ exchanges, error }: CheckResult): Markup {
  const shows = error?.exchange
  const order: [number, Exchange][] = [...exchanges.entries()]
  if (shows !== undefined) order.sort(([a], [b]) => Number(b === shows) - Number(a === shows) || a - b)
  return markup`${order.map(([index, exchange]) => exchangeMarkup(exchange, index, index === shows))}`
}

function checkMarkup(check: CheckResult): Markup {
  const open = check.status === 'failed' ? markup` open` : undefined
  const { error, reason, observations = [] } = check
  return markup`<details class="check"${open}>
<summary><span class="status ${check.status}">${statusSign[check.status]} ${check.status}</span> ${check.title} <span class="muted">${seconds(check.durationMs)}</span></summary>
${error && markup`<p class="message">${shorten(error.message, messageLimit)}</p>`}${error && valuesMarkup(error)}${
    reason === undefined ? undefined : markup`<p class="message">${shorten(reason, messageLimit)}</p>`
  }${
    observations.length === 0
      ? undefined
      : markup`<ul>${observations.map((text) => markup`<li class="message">${shorten(text, messageLimit)}</li>`)}</ul>`
  }
${check.exchanges.length === 0 ? markup`<p class="muted">No request was made.</p>` : exchangesMarkup(check)}
</details>`
}

/**
 * A clause on one line that unfolds to its sentence and its checks. Failed checks are unfolded.
 *
 * @param href the page that says what other relays do; absent: there is none
 */
function clauseArticle(clause: ClauseResult, href?: string): Markup {
  const status = shownStatus(clause)
  const { known } = clause
  return markup`<article aria-labelledby="${clause.id}" ${filterData({ ...clause, status })}>
<details class="clause">
<summary><span class="status ${status}">${statusSign[status]} ${status}</span> <h4 id="${clause.id}" tabindex="-1" class="id">${clauseName(clause.id)}</h4> <span class="muted">${clause.level}</span></summary>
<p>${clause.text} <span class="muted">Section ${clause.section}.</span>${href === undefined ? undefined : markup` <a href="${href}">All relays</a>`}</p>
${
  known &&
  markup`<p class="known">Known: ${known.reason}${
    known.link?.startsWith('https://') ? markup` (<a href="${known.link}" rel="noreferrer">link</a>)` : undefined
  }</p>`
}${clause.tests.length === 0 ? markup`<p class="muted">No check of this clause was made.</p>` : clause.tests.map(checkMarkup)}
</details>
</article>
`
}

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
