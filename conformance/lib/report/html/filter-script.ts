/**
 * The only script of the HTML report: shows the clauses that the presets, the boxes and the search field ask for, and
 * opens what a link leads to. Without it everything is shown.
 */
export const filterScript = `
'use strict'
;(() => {
const form = document.getElementById('filters')
const items = [...document.querySelectorAll('[data-clause]')]
const groups = [...document.querySelectorAll('[data-group]')]
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
