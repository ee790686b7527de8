import type { ClauseLevel } from '../../../../specs/index.ts'
import type { ClauseResult } from '../../report-types.ts'
import { shownStatus, shownStatuses, type ShownStatus } from '../words.ts'
import { markup, type Markup } from './markup.ts'

const levels: readonly ClauseLevel[] = ['required', 'recommended', 'unspecified']

/** A choice of boxes by one press: only these levels and statuses. */
interface Preset {
  readonly name: string
  readonly levels: readonly ClauseLevel[]
  readonly statuses: readonly ShownStatus[]
}

const presets: readonly Preset[] = [
  { name: 'Required failures', levels: ['required'], statuses: ['failed', 'known'] },
  { name: 'All failures', levels, statuses: ['failed', 'known'] },
  { name: 'Not judged', levels, statuses: ['untestable'] },
  { name: 'Observations', levels, statuses: ['observed'] },
  { name: 'Passed', levels, statuses: ['passed'] },
]

function boxes<T extends string>(name: string, title: string, found: readonly T[], choices: readonly T[]): Markup {
  const shown = choices.filter((choice) => found.includes(choice))
  return markup`<fieldset><legend>${title}</legend>${shown.map(
    (choice) =>
      markup`<label><input type="checkbox" name="${name}" value="${choice}" checked> ${choice} <span class="muted">${
        found.filter((other) => other === choice).length
      }</span></label>`,
  )}</fieldset>`
}

/** The presets that would show something, each with how many clauses, and one for everything. */
function presetButtons(clauses: readonly ClauseResult[]): Markup {
  const found = presets.flatMap(({ name, levels, statuses }) => {
    const count = clauses.filter((one) => levels.includes(one.level) && statuses.includes(shownStatus(one))).length
    const data = markup`data-level="${levels.join(' ')}" data-status="${statuses.join(' ')}"`
    return count === 0 ? [] : [markup`<button type="button" ${data}>${name} (${count})</button>`]
  })
  return markup`<div class="presets" role="group" aria-label="Presets">${found}<button type="button" id="all">Show all (${clauses.length})</button></div>`
}

/** What chooses among the clauses; hidden until the script is there that makes it work. */
export function clauseFilters(clauses: readonly ClauseResult[]): Markup {
  return markup`<form id="filters" hidden aria-label="Filter the clauses">
${presetButtons(clauses)}
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
<div class="search"><label for="text">Words</label><input type="search" id="text" name="text" autocomplete="off" spellcheck="false"></div>
</form>
<p id="shown" class="muted" role="status">${clauses.length} clauses</p>`
}
