import type { Report, SuiteReport } from '../../report-types.ts'
import { seconds } from '../layout.ts'
import { targetName, verdictReason, verdictTitle, verdictWord } from '../words.ts'
import { markup, type Markup } from './markup.ts'

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
export function factsMarkup(report: Report): Markup {
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
export function notesMarkup(report: Report): Markup {
  return markup`${report.notes.map((note) => markup`<p class="note">${note}</p>`)}${(
    report.staleExpectedFailures ?? []
  ).map(
    ({ id, why }) => markup`<p class="note">Stale in the expected failures: <span class="id">${id}</span>, ${why}</p>`,
  )}`
}

/** The links to the sections of the page. */
export function navigationMarkup(links: readonly { href: string; text: string }[]): Markup {
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
export function summaryMarkup(report: Report): Markup {
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
export function countsMarkup({ required, recommended, unspecified }: SuiteReport['summary']): Markup {
  const three = (name: string, counts: typeof required) =>
    markup`<tr><th scope="row">${name}</th>${cell(counts.passed)}${cell(counts.failed)}${cell(counts.untestable)}<td></td></tr>`
  return markup`<table class="counts">
<thead><tr><td></td><th scope="col">passed</th><th scope="col">failed</th><th scope="col">untestable</th><th scope="col">observed</th></tr></thead>
<tbody>${three('required', required)}${three('recommended', recommended)}<tr><th scope="row">unspecified</th><td></td><td></td>${cell(unspecified.untestable)}${cell(unspecified.observed)}</tr></tbody>
</table>`
}
