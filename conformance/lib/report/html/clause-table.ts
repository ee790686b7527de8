import type { ClauseLevel } from '../../../../specs/index.ts'
import type { ClauseResult } from '../../report-types.ts'
import { shownStatus, shownStatuses, statusSign } from '../words.ts'
import { clauseName } from './clause-name.ts'
import { filterData } from './filter-data.ts'
import { markup, type Markup } from './markup.ts'

const levels: readonly ClauseLevel[] = ['required', 'recommended', 'unspecified']

function boxes<T extends string>(name: string, title: string, found: readonly T[], choices: readonly T[]): Markup {
  const shown = choices.filter((choice) => found.includes(choice))
  return markup`<fieldset><legend>${title}</legend>${shown.map(
    (choice) =>
      markup`<label><input type="checkbox" name="${name}" value="${choice}" checked> ${choice} <span class="muted">${
        found.filter((other) => other === choice).length
      }</span></label>`,
  )}</fieldset>`
}

function row(clause: ClauseResult): Markup {
  const status = shownStatus(clause)
  return markup`<tr role="row" ${filterData(clause)}>
<td role="cell"><span class="status ${status}">${statusSign[status]} ${status}</span></td>
<th role="rowheader" scope="row" class="id"><a href="#${clause.id}">${clauseName(clause.id)}</a></th>
<td role="cell" class="wide muted">${clause.level}</td>
<td role="cell" class="wide">${clause.text}</td>
</tr>
`
}

/** Every clause with its status, and the boxes that choose among them. Roles stay when a phone's layout drops the table. */
export function clauseTable(clauses: readonly ClauseResult[]): Markup {
  return markup`<form id="filters" hidden aria-label="Filter the clauses">
${boxes(
  'document',
  'Document',
  clauses.map((clause) => clause.document),
  ['eth-rpc', 'relay'],
)}
${boxes(
  'level',
  'Level',
  clauses.map((clause) => clause.level),
  levels,
)}
${boxes('status', 'Status', clauses.map(shownStatus), shownStatuses)}
<div class="search"><label for="text">Words</label><input type="search" id="text" name="text" autocomplete="off" spellcheck="false"><button type="button" id="all">Show all</button></div>
</form>
<p id="shown" class="muted" role="status">${clauses.length} clauses</p>
<table class="clauses" role="table" aria-label="Clauses">
<thead role="rowgroup"><tr role="row"><th role="columnheader" scope="col">Status</th><th role="columnheader" scope="col">Clause</th><th role="columnheader" scope="col">Level</th><th role="columnheader" scope="col">Sentence</th></tr></thead>
<tbody role="rowgroup">
${clauses.map(row)}</tbody>
</table>`
}
