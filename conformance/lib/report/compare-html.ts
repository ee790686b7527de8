import type { ComparedCell, ComparedClause, Comparison, NamedReport } from './compare.ts'
import { clauseName } from './html/clause-name.ts'
import { markup, type Markup } from './html/markup.ts'
import { htmlPage } from './html/page.ts'
import { shorten } from './shorten.ts'
import { verdictReason } from './verdict-line.ts'
import { statusSign, targetName, verdictWord } from './words.ts'

const detailLimit = 1500

function cellMarkup(cell: ComparedCell | undefined, withDetail: boolean): Markup {
  if (!cell) return markup`<td class="muted">not in the report</td>`
  const detail =
    withDetail && cell.detail ? markup`<p class="message muted">${shorten(cell.detail, detailLimit)}</p>` : undefined
  return markup`<td><span class="status ${cell.status}">${statusSign[cell.status]} ${cell.status}</span>${detail}</td>`
}

function table(label: string, { reports }: Comparison, rows: readonly ComparedClause[], withDetail: boolean): Markup {
  const body = rows.map(
    (
      row,
    ) => markup`<tr><th scope="row"><span class="id">${clauseName(row.id)}</span><p class="muted">${row.level}. ${row.text}</p></th>${row.cells.map((cell) => cellMarkup(cell, withDetail))}</tr>
`,
  )
  return markup`<div class="scroll" tabindex="0" role="region" aria-label="${label}"><table class="compare">
<thead><tr><th scope="col">Clause</th>${reports.map(({ name }) => markup`<th scope="col">${name}</th>`)}</tr></thead>
<tbody>
${body}</tbody>
</table></div>`
}

function reportRow({ name, report }: NamedReport): Markup {
  return markup`<dt>${name}</dt><dd><strong>${verdictWord[report.verdict]}</strong>: ${verdictReason(report)}<br><span class="muted">${targetName(report.target)}, ${report.startedAt}</span></dd>`
}

/** Several reports in one page that needs nothing else, differences first. */
export function compareHtml(comparison: Comparison): string {
  const { reports, differences, same } = comparison
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
<section aria-labelledby="same"><h2 id="same">The same for all (${same.length})</h2>
<details><summary>Show the ${same.length} clauses</summary>
${table('The same for all', comparison, same, false)}
</details>
</section>
</main>`,
  })
}
