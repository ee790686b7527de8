import { createHash } from 'node:crypto'
import type { ClauseLevel } from '../../../../specs/index.ts'
import type { ClauseResult } from '../../report-types.ts'
import { escapeHtml, visibleControls } from '../escape.ts'
import { type ShownStatus, shownStatuses } from '../words.ts'

/** HTML that is safe, since {@link markup} made it. */
export class Markup {
  readonly html: string

  constructor(html: string) {
    this.html = html
  }
}

type MarkupValue = string | number | Markup | readonly Markup[] | undefined

function rendered(value: MarkupValue): string {
  if (value === undefined) return ''
  if (value instanceof Markup) return value.html
  if (typeof value === 'string' || typeof value === 'number') return escapeHtml(visibleControls(String(value)))
  return value.map((part) => part.html).join('')
}

/** A template for HTML. It escapes every value but those that it made itself. */
export function markup(strings: TemplateStringsArray, ...values: readonly MarkupValue[]): Markup {
  return new Markup(
    strings.map((part, index) => part + (index < values.length ? rendered(values[index]) : '')).join(''),
  )
}

interface PageParts {
  readonly title: string
  readonly body: Markup
  readonly script: string
}

function sourceHash(text: string): string {
  return `'sha256-${createHash('sha256').update(text).digest('base64')}'`
}

/**
 * A whole HTML document that loads nothing. Style and script are inside; the content security policy allows these
 * two by their hash, and no request.
 */
export function htmlPage({ title, body, script }: PageParts): string {
  const policy = [
    "default-src 'none'",
    `style-src ${sourceHash(style)}`,
    `script-src ${sourceHash(script)}`,
    'img-src data:',
    "base-uri 'none'",
    "form-action 'none'",
  ].join('; ')
  const page = markup`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${policy}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="referrer" content="no-referrer">
<link rel="icon" href="data:,">
<title>${title}</title>
<style>${new Markup(style)}</style>
</head>
<body>
${body}
<script>${new Markup(script)}</script>
</body>
</html>
`
  return page.html
}

/** The style of the HTML reports: system fonts, one column, and light or dark as the reader's system prefers. */
const style = `
:root {
  --page: #fafaf8; --surface: #fff; --text: #1d1f22; --muted: #565c64; --line: #dcdfe3; --soft: #f1f2f4;
  --link: #1f56a8; --passed: #17663a; --failed: #b0221b; --known: #71389a; --untestable: #7a5000; --observed: #1b5e8c; --marked: #ffe9a8;
}
@media (prefers-color-scheme: dark) {
  :root {
    --page: #141517; --surface: #1b1d20; --text: #e6e7e9; --muted: #a4abb4; --line: #34383e; --soft: #24272b;
    --link: #8fb8f6; --passed: #71c797; --failed: #ff8f86; --known: #d2a6ef; --untestable: #e2b458; --observed: #82c1ec; --marked: #57430a;
  }
}
*, *::before, *::after { box-sizing: border-box }
html { color-scheme: light dark; scroll-padding-top: 1rem; -webkit-text-size-adjust: 100% }
body { margin: 0; background: var(--page); color: var(--text); font: 1rem/1.55 system-ui, sans-serif }
header, main, footer { max-width: 68rem; margin: 0 auto; padding: 0 1.25rem }
header { padding-top: 1.5rem }
main > section { margin-top: 2.25rem } main > section:first-child { margin-top: 1.25rem }
footer { padding-top: 2rem; padding-bottom: 3rem; color: var(--muted); font-size: .875rem }
h1 { font-size: 2rem; line-height: 1.2; margin: .25rem 0 .5rem; letter-spacing: -.01em }
h2 { font-size: 1.25rem; margin: 0 0 .9rem; padding-bottom: .35rem; border-bottom: 1px solid var(--line) }
h3 { font-size: 1rem; margin: 2rem 0 .75rem }
h4 { font-size: 1rem; margin: 0; overflow-wrap: anywhere }
p { margin: .4rem 0 }
a { color: var(--link); text-underline-offset: .15em }
:focus-visible { outline: 3px solid var(--link); outline-offset: 2px; border-radius: 2px }
code, pre, .id { font-family: ui-monospace, SFMono-Regular, Menlo, Consolas, monospace; font-size: .875em }
.id { overflow-wrap: break-word }
.muted { color: var(--muted) }
.lead { font-size: 1.0625rem; max-width: 46rem }
.skip { position: absolute; left: -999rem; top: .5rem; background: var(--surface); padding: .5rem .75rem; z-index: 1 }
.skip:focus { left: .5rem }
.passed { color: var(--passed) } .failed { color: var(--failed) } .known { color: var(--known) }
.untestable { color: var(--untestable) } .observed { color: var(--observed) }
.status { font-weight: 600; white-space: nowrap }
.facts { display: grid; grid-template-columns: max-content 1fr; gap: .15rem 1rem; margin: 1rem 0 }
.facts dt { color: var(--muted) } .facts dd { margin: 0; overflow-wrap: anywhere }
nav ul { list-style: none; display: flex; flex-wrap: wrap; gap: .25rem 1.25rem; padding: 0; margin: 1rem 0 0 }
.note { border-left: 4px solid var(--untestable); background: var(--surface); padding: .5rem .9rem; margin: .6rem 0 }
table { border-collapse: collapse; width: 100% }
th, td { text-align: left; vertical-align: top; padding: .5rem .75rem .5rem 0; border-bottom: 1px solid var(--line) }
thead th { color: var(--muted); font-weight: 500; font-size: .875rem }
tbody th { font-weight: 500 }
.counts { width: auto } .counts td, .counts thead th + th { text-align: right; padding-left: 1.25rem; font-variant-numeric: tabular-nums }
.counts .none { color: var(--muted) }
.failures { list-style: none; margin: 0; padding: 0; display: grid; gap: .75rem }
.failures > li, article, .observations > div {
  background: var(--surface); border: 1px solid var(--line); border-radius: 8px; padding: .85rem 1rem
}
article { margin-top: .35rem; padding-top: .3rem; padding-bottom: .3rem }
.failures > li { border-left: 4px solid var(--failed) }
.failures > li.warning { border-left-color: var(--untestable) }
.message { overflow-wrap: anywhere; white-space: pre-wrap }
form { display: grid; gap: .6rem; margin-bottom: 1rem }
fieldset { border: 0; margin: 0; padding: 0; display: flex; flex-wrap: wrap; gap: .35rem .9rem; align-items: center }
legend { float: left; width: 6.5rem; padding: 0; color: var(--muted); font-size: .875rem }
fieldset label { display: inline-flex; align-items: center; gap: .35rem; min-height: 1.75rem; cursor: pointer }
input[type=checkbox] { width: 1.05rem; height: 1.05rem; accent-color: var(--link); margin: 0 }
.search { display: flex; flex-wrap: wrap; gap: .5rem 0; align-items: center }
.search label { width: 6.5rem; margin-right: .9rem; color: var(--muted); font-size: .875rem }
input[type=search], button {
  font: inherit; color: inherit; background: var(--surface); border: 1px solid var(--muted); border-radius: 6px;
  padding: .3rem .6rem
}
input[type=search] { width: min(22rem, 100%); margin-right: .75rem }
button { cursor: pointer }
.failures > li, article { min-width: 0 } .failures li ul { padding-left: 1.1rem; margin: .3rem 0 } .failures pre { max-height: 14rem }
.clause { margin: 0 } .clause > summary h4 { display: inline } .about { margin-top: 1rem }
.presets { display: flex; flex-wrap: wrap; gap: .5rem }
[hidden] { display: none !important }
details { margin-top: .5rem }
summary { cursor: pointer; padding: .15rem 0; overflow-wrap: anywhere }
.check { border-top: 1px solid var(--line); padding-top: .4rem }
.check > :not(summary) { margin-left: 1.05rem }
.check ul { padding-left: 1.1rem; margin: .3rem 0 }
.values { display: grid; grid-template-columns: max-content 1fr; gap: .2rem .8rem; margin: .4rem 0 }
.values dt { color: var(--muted) } .values dd { margin: 0 }
pre {
  margin: .35rem 0; padding: .6rem .75rem; background: var(--soft); border-radius: 6px; max-height: 26rem; overflow: auto;
  white-space: pre-wrap; overflow-wrap: anywhere; line-height: 1.45; tab-size: 2
}
.exchange .label { font-size: .8125rem; font-weight: 600; color: var(--muted); margin: .5rem 0 0 }
.observations { display: grid; gap: .75rem; margin: 0 }
.observations dt, .observations dd { margin: 0; overflow-wrap: anywhere }
.observations .answer { margin-top: .35rem }
.scroll, .side-by-side { max-height: 90vh; overflow: auto }
.scroll thead th { position: sticky; top: 0; z-index: 1; background: var(--page) }
.compare { table-layout: fixed; min-width: 44rem; border-collapse: separate; border-spacing: 0 }
.compare thead th { position: sticky; top: 0; z-index: 1; background: var(--page) }
.compare td, .compare th { padding-right: .75rem }
mark { background: var(--marked); color: inherit; border-radius: 2px }
.compare td, .compare th { overflow-wrap: anywhere }
.compare th p, .detail { font-size: .875rem; font-weight: 400 }
.narrow { display: none }
@media (max-width: 42rem) {
  h1 { font-size: 1.6rem }
  header, main, footer { padding-left: .9rem; padding-right: .9rem }
  .facts { grid-template-columns: 1fr } .facts dd { margin-bottom: .4rem }
  legend, .search label { width: 100% }
  .values { grid-template-columns: 1fr }
  .counts { font-size: .875rem; width: 100% }
  .counts td, .counts thead th + th { padding: .5rem 0 .5rem .3rem } .counts thead th { font-size: .75rem }
  .side-by-side { max-height: none } .compare { min-width: 0 }
  .compare thead { position: absolute; left: -999rem }
  .compare, .compare tbody, .compare tr, .compare td, .compare th { display: block }
  .compare tr { padding: .8rem 0; border-bottom: 1px solid var(--line) }
  .compare td, .compare th { border: 0; padding: .25rem 0; min-width: 0 }
  .narrow { display: block; font-size: .875rem }
}
@media print { form, nav, .skip { display: none } body { background: none } }
`

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
