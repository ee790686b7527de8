import type { ClauseLevel } from '../../../../specs/index.ts'
import type { ClauseResult } from '../../report-types.ts'
import { type ShownStatus, shownStatuses } from '../words.ts'
import { markup, type Markup } from './markup.ts'

/** What a clause is filtered by. */
export interface Filtered extends Pick<ClauseResult, 'text' | 'document' | 'level'> {
  readonly id: string
  readonly status: ShownStatus
}

/** The attributes by which the script finds a clause. */
export function filterData({ id, text, document, level, status }: Filtered): Markup {
  const words = `${id} ${text}`.toLowerCase()
  return markup`data-clause="${id}" data-document="${document}" data-level="${level}" data-status="${status}" data-text="${words}"`
}

const levels: readonly ClauseLevel[] = ['required', 'recommended', 'unspecified']

/** A button that selects these levels and statuses. */
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

/** A button for each preset that selects a clause, with the number of its clauses, and one that shows all. */
function presetButtons(clauses: readonly Filtered[]): Markup {
  const found = presets.flatMap(({ name, levels, statuses }) => {
    const count = clauses.filter((one) => levels.includes(one.level) && statuses.includes(one.status)).length
    const data = markup`data-level="${levels.join(' ')}" data-status="${statuses.join(' ')}"`
    return count === 0 ? [] : [markup`<button type="button" ${data}>${name} (${count})</button>`]
  })
  return markup`<div class="presets" role="group" aria-label="Presets">${found}<button type="button" id="all">Show all (${clauses.length})</button></div>`
}

/** The form that filters the clauses. It is hidden until the script shows it. */
export function clauseFilters(clauses: readonly Filtered[]): Markup {
  return markup`<form id="filters" hidden aria-label="Filter the clauses">
${presetButtons(clauses)}
${boxes(
  'document',
  'Document',
  clauses.map((clause) => clause.document),
  ['eth-rpc', 'relay', 'client', 'extension'],
)}
${boxes(
  'level',
  'Level',
  clauses.map((clause) => clause.level),
  levels,
)}
${boxes(
  'status',
  'Status',
  clauses.map(({ status }) => status),
  shownStatuses,
)}
<div class="search"><label for="text">Words</label><input type="search" id="text" name="text" autocomplete="off" spellcheck="false"></div>
</form>
<p id="shown" class="muted" role="status">${clauses.length} clauses</p>`
}

/**
 * The only script of the HTML reports. It shows the clauses that the presets, the boxes and the search field select,
 * and unfolds the target of a link. Without the script the page shows every clause.
 */
export const filterScript = `
'use strict'
;(() => {
const form = document.getElementById('filters')
const items = [...document.querySelectorAll('[data-clause]')]
const groups = [...document.querySelectorAll('[data-group]')]
const folds = [...document.querySelectorAll('[data-fold]')]
const shownCount = document.getElementById('shown')

function apply() {
  const data = new FormData(form)
  const words = String(data.get('text')).toLowerCase().split(/\\s+/).filter(Boolean)
  const chosen = { document: data.getAll('document'), level: data.getAll('level'), status: data.getAll('status') }
  for (const item of items) {
    const { document: of, level, status, text } = item.dataset
    item.hidden = !(
      chosen.document.includes(of) && chosen.level.includes(level) && chosen.status.includes(status) &&
      words.every((word) => text.includes(word))
    )
  }
  for (const group of groups) {
    group.hidden = !items.some((item) => !item.hidden && item.dataset.document === group.dataset.group)
  }
  const count = items.filter((item) => !item.hidden).length
  if (count < items.length) for (const fold of folds) fold.open = items.some((item) => !item.hidden && fold.contains(item))
  shownCount.textContent = count + ' of ' + items.length + ' clauses shown'
}

function choose(preset) {
  form.reset()
  for (const name of ['level', 'status']) {
    const values = preset.dataset[name].split(' ')
    for (const box of form.querySelectorAll('input[name=' + name + ']')) box.checked = values.includes(box.value)
  }
  apply()
}

function showAll() {
  form.reset()
  apply()
}

function open() {
  const target = location.hash.length > 1 && document.getElementById(decodeURIComponent(location.hash.slice(1)))
  if (!target) return
  const item = target.closest('[data-clause]')
  if (item && item.hidden) showAll()
  for (let at = target; at; at = at.parentElement) if (at.tagName === 'DETAILS') at.open = true
  target.focus()
  target.scrollIntoView()
}

form.hidden = false
form.addEventListener('input', apply)
for (const preset of form.querySelectorAll('[data-status]')) preset.addEventListener('click', () => choose(preset))
document.getElementById('all').addEventListener('click', showAll)
form.addEventListener('submit', (event) => event.preventDefault())
addEventListener('hashchange', open)
apply()
open()
})()
`
