import type { ComparedCell, ComparedClause, Comparison, NamedReport } from '../compare.ts'
import { shownStatuses, statusSign, targetName, verdictReason, verdictTitle } from '../words.ts'
import { clauseName, verdictMark } from './report.ts'
import { clauseFilters, filterData, type Filtered, filterScript, htmlPage, markup, type Markup } from './page.ts'

/** A row is filtered by the most urgent of its statuses. */
function filteredBy({ id, text, document, level, cells }: ComparedClause): Filtered {
  const found = shownStatuses.find((status) => cells.some((cell) => cell?.status === status))
  return { id, text, document, level, status: found ?? 'untestable' }
}

function cellMarkup(cell: ComparedCell | undefined, name: string, detail: Markup | undefined): Markup {
  const label = markup`<span class="narrow muted">${name}</span>`
  if (!cell) return markup`<td role="cell" class="muted">${label}not in the report</td>`
  const shown = cell.detail === '' ? undefined : detail && markup`<p class="message detail">${detail}</p>`
  return markup`<td role="cell">${label}<span class="status ${cell.status}">${statusSign[cell.status]} ${cell.status}</span>${shown}</td>`
}

type LinkOf = (id: string) => string

function rowMarkup(row: ComparedClause, { reports }: Comparison, withDetail: boolean, linkOf?: LinkOf): Markup {
  const details = withDetail ? markDiffering(row.cells.map((cell) => cell?.detail ?? '')) : []
  const cells = row.cells.map((cell, index) => cellMarkup(cell, reports[index]?.name ?? '', details[index]))
  const name = linkOf
    ? markup`<a class="id" href="${linkOf(row.id)}">${clauseName(row.id)}</a>`
    : markup`<span class="id">${clauseName(row.id)}</span>`
  return markup`<tr role="row" ${filterData(filteredBy(row))}><th role="rowheader" scope="row">${name}<p class="muted">${row.level}. ${row.text}</p></th>${cells}</tr>
`
}

function table(
  label: string,
  comparison: Comparison,
  rows: readonly ComparedClause[],
  withDetail: boolean,
  linkOf?: LinkOf,
): Markup {
  const heads = comparison.reports.map(
    ({ name, report }) => markup`<th role="columnheader" scope="col">${verdictMark(report)} ${name}</th>`,
  )
  return markup`<div class="side-by-side" tabindex="0" role="region" aria-label="${label}"><table role="table" class="compare" aria-label="${label}">
<thead role="rowgroup"><tr role="row"><th role="columnheader" scope="col">Clause</th>${heads}</tr></thead>
<tbody role="rowgroup">
${rows.map((row) => rowMarkup(row, comparison, withDetail, linkOf))}</tbody>
</table></div>`
}

function reportRow({ name, report }: NamedReport): Markup {
  const target = targetName(report.target)
  const which = target === name ? '' : `${target}, `
  return markup`<dt>${name}</dt><dd><strong>${verdictTitle(report)}</strong>: ${verdictReason(report)}<br><span class="muted">${which}${report.startedAt}</span></dd>`
}

function folded(
  id: string,
  title: string,
  comparison: Comparison,
  rows: readonly ComparedClause[],
  linkOf?: LinkOf,
): Markup | undefined {
  if (rows.length === 0) return undefined
  return markup`<section aria-labelledby="${id}"><h2 id="${id}">${title} (${rows.length})</h2>
<details data-fold><summary>Show the ${rows.length} clauses</summary>
${table(title, comparison, rows, false, linkOf)}
</details>
</section>
`
}

/**
 * Several reports in one HTML page that loads nothing, differences first. In a text, the part that differs is marked.
 *
 * @param linkOf the page of a clause; absent: clauses have none
 */
export function compareHtml(comparison: Comparison, linkOf?: LinkOf): string {
  const { reports, differences, same, incomplete } = comparison
  return htmlPage({
    title: `Touchstone: ${reports.length} reports side by side`,
    script: filterScript,
    body: markup`<header>
<p class="muted">${linkOf ? markup`<a href="index.html">All relays</a>` : 'Touchstone'}</p>
<h1>${reports.length} reports side by side</h1>
<dl class="facts">${reports.map(reportRow)}</dl>
</header>
<main>
${clauseFilters([...differences, ...same, ...incomplete].map(filteredBy))}
<section aria-labelledby="differences"><h2 id="differences">Differences (${differences.length})</h2>
${differences.length === 0 ? markup`<p>None.</p>` : table('Differences', comparison, differences, true, linkOf)}
</section>
${folded('same', 'The same for all', comparison, same, linkOf)}${folded('incomplete', 'Not in all of them', comparison, incomplete, linkOf)}</main>`,
  })
}

/** What the texts have in common before and after the part that differs is shown to this length, in characters. */
const contextLimit = 240
const differingLimit = 1500

const wordsOf = (text: string): string[] => text.split(/(?<=\s)|(?=\s)|(?<=[",:;{}[\]()])/)

/** How many words all texts begin with. */
function commonStart(texts: readonly (readonly string[])[]): number {
  const [first = [], ...others] = texts
  const until = first.findIndex((word, index) => others.some((words) => words[index] !== word))
  return until < 0 ? first.length : until
}

const cutStart = (text: string): string => (text.length > contextLimit ? `… ${text.slice(-contextLimit)}` : text)
const cutEnd = (text: string, limit: number): string => (text.length > limit ? `${text.slice(0, limit)} …` : text)

/**
 * Texts side by side, each with the part marked in which it differs from the others. A text that says nothing is left out of
 * the comparison.
 *
 * @returns a Markup for each text, in their order
 */
export function markDiffering(texts: readonly string[]): Markup[] {
  const said = texts.filter((text) => text !== '').map(wordsOf)
  if (new Set(texts.filter((text) => text !== '')).size < 2) {
    return texts.map((text) => markup`${cutEnd(text, differingLimit)}`)
  }
  const start = commonStart(said)
  const end = commonStart(said.map((words) => words.slice(start).reverse()))
  return texts.map((text) => {
    if (text === '') return markup``
    const words = wordsOf(text)
    const part = words.slice(start, words.length - end).join('')
    const mark = part === '' ? undefined : markup`<mark>${cutEnd(part, differingLimit)}</mark>`
    const after = cutEnd(words.slice(words.length - end).join(''), contextLimit)
    return markup`${cutStart(words.slice(0, start).join(''))}${mark}${after}`
  })
}
