import { createHash } from 'node:crypto'
import type { ClauseResult, Report } from '../../report-types.ts'
import { compareReports, type NamedReport } from '../compare.ts'
import { clauseName, renderHtml } from './report.ts'
import {
  shownStatus,
  type ShownStatus,
  shownStatuses,
  statusSign,
  targetName,
  verdictReason,
  verdictTitle,
} from '../words.ts'
import { clauseFilters, filterData, type Filtered, filterScript, htmlPage, markup, type Markup } from './page.ts'
import { compareHtml } from './comparison.ts'

/** All runs against one target with one edition, the latest first. */
interface Relay {
  readonly name: string
  /** Of its pages' paths. */
  readonly slug: string
  readonly runs: readonly [Report, ...Report[]]
}

/** A clause whose status differs between two runs. */
interface Change {
  readonly clause: ClauseResult
  readonly was: ShownStatus
  readonly is: ShownStatus
}

/**
 * A static site out of reports: all relays with their latest verdicts, a page for each relay with its history and what changed
 * since the run before, a page for each clause, the relays side by side, and each report. The pages load nothing and work
 * from a folder as well as below any URL.
 *
 * @returns the pages, by their paths in the site
 */
export function renderSite(reports: readonly Report[]): Map<string, string> {
  const relays = relaysOf(reports)
  const latest = relays.map(({ name, runs: [report] }): NamedReport => ({ name, report }))
  const clauses = [...new Map(latest.flatMap(({ report }) => report.clauses.map((one) => [one.id, one]))).values()]
  const ids = new Set<string>(clauses.map(({ id }) => id))
  /** From a run's page. An old run may have a clause that the latest runs do not have. */
  const pageOfClause = (id: string) => (ids.has(id) ? `../../clauses/${id}.html` : undefined)
  return new Map([
    ['index.html', indexPage(relays, clauses)],
    ...(latest.length > 1
      ? [['compare.html', compareHtml(compareReports(latest), (id) => `clauses/${id}.html`)] as const]
      : []),
    ...relays.flatMap((relay) => [
      [`relays/${relay.slug}.html`, relayPage(relay)] as const,
      ...relay.runs.map((report) => [runPath(relay, report), renderHtml(report, pageOfClause)] as const),
    ]),
    ...clauses.map((clause) => [`clauses/${clause.id}.html`, clausePage(clause, relays)] as const),
  ])
}

function relaysOf(reports: readonly Report[]): Relay[] {
  const byName = Map.groupBy(reports, ({ target, suite }) => `${targetName(target)} (${suite.edition})`)
  return [...byName]
    .map(([name, runs]): Relay => {
      const [first, ...others] = runs.toSorted((a, b) => (a.startedAt < b.startedAt ? 1 : -1))
      if (!first) throw new Error('a relay without a run')
      return { name, slug: slugOf(name), runs: [first, ...others] }
    })
    .sort((a, b) => a.name.localeCompare(b.name))
}

/** What a file may be named everywhere; the hash tells two names apart that look alike so. */
function slugOf(name: string): string {
  const words = name
    .toLowerCase()
    .replace(/^https?:\/\//, '')
    .replace(/[^a-z0-9]+/g, '-')
  return `${words.slice(0, 60).replace(/^-|-$/g, '')}-${createHash('sha256').update(name).digest('hex').slice(0, 6)}`
}

const runPath = ({ slug }: Relay, { startedAt }: Report) =>
  `runs/${slug}/${startedAt.replace(/[^0-9A-Za-z]+/g, '-')}.html`

/** What is worse and what is better than in the run before, the worst first. */
function changesOf({ runs: [report, before] }: Relay): Change[] {
  const earlier = new Map(before?.clauses.map((clause) => [clause.id, shownStatus(clause)]))
  return report.clauses
    .flatMap((clause) => {
      const [was, is] = [earlier.get(clause.id), shownStatus(clause)]
      return was === undefined || was === is ? [] : { clause, was, is }
    })
    .sort((a, b) => rank(a.is) - rank(b.is))
}

const rank = (status: ShownStatus) => shownStatuses.indexOf(status)

/** A clause that no longer passes, or fails where it was not judged before. */
const isWorse = ({ was, is }: Change) => rank(is) < rank(was)

function changeText(relay: Relay): string {
  if (relay.runs.length === 1) return 'first run'
  const changes = changesOf(relay)
  const worse = changes.filter(isWorse).length
  if (changes.length === 0) return 'nothing'
  return [worse > 0 && `${worse} worse`, changes.length > worse && `${changes.length - worse} better`]
    .filter((part) => part !== false)
    .join(', ')
}

function indexPage(relays: readonly Relay[], clauses: readonly ClauseResult[]): string {
  const filtered = clauses.map((clause): Filtered => {
    const found = statusesOf(clause.id, relays)
    return { ...clause, status: shownStatuses.find((status) => found.includes(status)) ?? 'untestable' }
  })
  return sitePage({
    script: filterScript,
    title: 'Relays and their verdicts',
    top: '.',
    lead: relays.length > 1 ? markup`<a href="compare.html">All side by side</a>` : undefined,
    sections: [
      section(
        'Relays',
        table(
          'Relays',
          ['Relay', 'Verdict', 'Why', 'Latest run', 'Changed since the run before'],
          relays.map((relay) => {
            const [report] = relay.runs
            return [
              markup`<a href="relays/${relay.slug}.html">${relay.name}</a>`,
              verdict(report),
              verdictReason(report),
              day(report),
              changeText(relay),
            ]
          }),
        ),
      ),
      section(
        'Clauses',
        markup`${clauseFilters(filtered)}${table(
          'Clauses',
          ['Clause', 'Level', ...shownStatuses],
          clauses.map(({ id, level }) => [
            markup`<a class="id" href="clauses/${id}.html">${clauseName(id)}</a>`,
            level,
            ...shownStatuses.map((status) => String(statusesOf(id, relays).filter((one) => one === status).length)),
          ]),
          filtered.map(filterData),
        )}`,
      ),
    ],
  })
}

const statusesOf = (id: string, relays: readonly Relay[]) =>
  relays.flatMap(({ runs: [report] }) => report.clauses.filter((clause) => clause.id === id).map(shownStatus))

/** The oldest of the runs in a row, up to the latest, in which the clause has its present status. */
function sinceRun({ runs }: Relay, clause: ClauseResult): Report {
  const present = shownStatus(clause)
  let since = runs[0]
  for (const run of runs) {
    const then = run.clauses.find(({ id }) => id === clause.id)
    // A run of a part of the clauses says nothing of the others.
    if (!then) continue
    if (shownStatus(then) !== present) break
    since = run
  }
  return since
}

/** The clauses that fail, the longest first. */
function failureRows(relay: Relay): (string | Markup)[][] {
  return relay.runs[0].clauses
    .filter(({ status }) => status === 'failed')
    .map((clause) => ({ clause, since: sinceRun(relay, clause) }))
    .sort((a, b) => (a.since.startedAt < b.since.startedAt ? -1 : 1))
    .map(({ clause, since }) => [
      markup`<a class="id" href="../clauses/${clause.id}.html">${clauseName(clause.id)}</a>`,
      clause.level,
      statusMarkup(shownStatus(clause)),
      markup`<a href="../${runPath(relay, since)}#${clause.id}">${day(since)}</a>${since === relay.runs.at(-1) ? ', the first run' : ''}`,
    ])
}

function relayPage(relay: Relay): string {
  const [report] = relay.runs
  const failures = failureRows(relay)
  const changes = changesOf(relay)
  const rows = changes.map(({ clause, was, is }) => [
    markup`<a class="id" href="../clauses/${clause.id}.html">${clauseName(clause.id)}</a>`,
    clause.level,
    statusMarkup(was),
    statusMarkup(is),
  ])
  return sitePage({
    title: relay.name,
    top: '..',
    lead: markup`${verdict(report)}: ${verdictReason(report)}. <a href="../${runPath(relay, report)}">The latest report</a>`,
    sections: [
      section(
        'Changed since the run before',
        rows.length > 0
          ? table('Changes', ['Clause', 'Level', 'Was', 'Is'], rows)
          : markup`<p>${relay.runs.length === 1 ? 'There is no run before.' : 'Nothing.'}</p>`,
      ),
      section(
        'Failures',
        failures.length > 0
          ? table('Failures', ['Clause', 'Level', 'Status', 'Since'], failures)
          : markup`<p>None.</p>`,
      ),
      section(
        'Runs',
        table(
          'Runs',
          ['Run', 'Verdict', 'Why', 'Touchstone'],
          relay.runs.map((run) => [
            markup`<a href="../${runPath(relay, run)}">${run.startedAt}</a>`,
            verdict(run),
            verdictReason(run),
            run.suite.version,
          ]),
        ),
      ),
    ],
  })
}

function clausePage({ id, level, section: place, text, document }: ClauseResult, relays: readonly Relay[]): string {
  return sitePage({
    title: id,
    top: '..',
    lead: markup`${text} <span class="muted">(${document}, section ${place}; ${level})</span>`,
    sections: [
      section(
        'Relays',
        table(
          'Relays',
          ['Relay', 'Status', 'Why'],
          relays.flatMap((relay) => {
            const [report] = relay.runs
            const clause = report.clauses.find((one) => one.id === id)
            if (!clause) return []
            const failed = clause.tests.find(({ status }) => status === clause.status)
            return [
              [
                markup`<a href="../${runPath(relay, report)}#${id}">${relay.name}</a>`,
                statusMarkup(shownStatus(clause)),
                failed?.error?.message ?? failed?.reason ?? clause.observation ?? '',
              ],
            ]
          }),
        ),
      ),
    ],
  })
}

const day = ({ startedAt }: Report) => startedAt.slice(0, 10)

const verdict = (report: Report): Markup =>
  markup`<span class="status ${verdictClass[report.verdict]}">${verdictTitle(report)}</span>`

const verdictClass: Readonly<Record<Report['verdict'], ShownStatus>> = {
  conformant: 'passed',
  passed: 'passed',
  nonconformant: 'failed',
  partial: 'untestable',
  error: 'failed',
}

const statusMarkup = (status: ShownStatus): Markup =>
  markup`<span class="status ${status}">${statusSign[status]} ${status}</span>`

function section(title: string, content: Markup): Markup {
  const id = title.toLowerCase().replaceAll(' ', '-')
  return markup`<section aria-labelledby="${id}"><h2 id="${id}">${title}</h2>
${content}</section>
`
}

/** @param data the attributes of each row */
function table(
  label: string,
  heads: readonly string[],
  rows: readonly (readonly (string | Markup)[])[],
  data: readonly Markup[] = [],
): Markup {
  const body = rows.map(([first = '', ...others], index) => {
    const cells = others.map((cell) => markup`<td class="message">${cell}</td>`)
    return markup`<tr ${data[index]}><th scope="row">${first}</th>${cells}</tr>
`
  })
  return markup`<div class="scroll" tabindex="0" role="region" aria-label="${label}, a table"><table>
<thead><tr>${heads.map((head) => markup`<th scope="col">${head}</th>`)}</tr></thead>
<tbody>${body}</tbody></table></div>`
}

interface SitePage {
  readonly title: string
  /** The path from the page to the top of the site. */
  readonly top: '.' | '..'
  readonly lead: Markup | undefined
  readonly sections: readonly Markup[]
  readonly script?: string
}

function sitePage({ title, top, lead, sections, script = '' }: SitePage): string {
  const up = top === '.' ? markup`Touchstone` : markup`<a href="${top}/index.html">All relays</a>`
  return htmlPage({
    title: `${title}, Touchstone`,
    script,
    body: markup`<header>
<p class="muted">${up}</p>
<h1>${title}</h1>
${lead && markup`<p class="lead">${lead}</p>`}</header>
<main>
${sections}</main>`,
  })
}
