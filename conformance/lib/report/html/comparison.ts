import type { ComparedCell, ComparedClause, Comparison, NamedReport } from '../compare.ts'
import { shorten } from '../layout.ts'
import { statusSign, targetName, verdictReason, verdictTitle } from '../words.ts'
import { clauseName } from './clause.ts'
import { markup, type Markup } from './markup.ts'
import { htmlPage } from './page.ts'

const detailLimit = 1500

function cellMarkup(cell: ComparedCell | undefined, name: string, withDetail: boolean): Markup {
  const label = markup`<span class="narrow muted">${name}</span>`
  if (!cell) return markup`<td role="cell" class="muted">${label}not in the report</td>`
  const detail =
    withDetail && cell.detail ? markup`<p class="message detail">${shorten(cell.detail, detailLimit)}</p>` : undefined
  return markup`<td role="cell">${label}<span class="status ${cell.status}">${statusSign[cell.status]} ${cell.status}</span>${detail}</td>`
}

function table(label: string, { reports }: Comparison, rows: readonly ComparedClause[], withDetail: boolean): Markup {
  const body = rows.map(
    (
      row,
    ) => markup`<tr role="row"><th role="rowheader" scope="row"><span class="id">${clauseName(row.id)}</span><p class="muted">${row.level}. ${row.text}</p></th>${row.cells.map((cell, index) => cellMarkup(cell, reports[index]?.name ?? '', withDetail))}</tr>
`,
  )
  return markup`<div class="scroll" tabindex="0" role="region" aria-label="${label}"><table role="table" class="compare" aria-label="${label}">
<thead role="rowgroup"><tr role="row"><th role="columnheader" scope="col">Clause</th>${reports.map(({ name }) => markup`<th role="columnheader" scope="col">${name}</th>`)}</tr></thead>
<tbody role="rowgroup">
${body}</tbody>
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
): Markup | undefined {
  if (rows.length === 0) return undefined
  return markup`<section aria-labelledby="${id}"><h2 id="${id}">${title} (${rows.length})</h2>
<details><summary>Show the ${rows.length} clauses</summary>
${table(title, comparison, rows, false)}
</details>
</section>
`
}

/** Several reports in one HTML page that loads nothing, differences first. */
export function compareHtml(comparison: Comparison): string {
  const { reports, differences, same, incomplete } = comparison
  return htmlPage({
    title: `Touchstone: ${reports.length} reports side by side`,
    script: '',
    body: markup`<header>
<p class="muted">Touchstone</p>
<h1>${reports.length} reports side by side</h1>
<dl class="facts">${reports.map(reportRow)}</dl>
</header>
<main>
<section aria-labelledby="differences"><h2 id="differences">Differences (${differences.length})</h2>
${differences.length === 0 ? markup`<p>None.</p>` : table('Differences', comparison, differences, true)}
</section>
${folded('same', 'The same for all', comparison, same)}${folded('incomplete', 'Not in all of them', comparison, incomplete)}</main>`,
  })
}
