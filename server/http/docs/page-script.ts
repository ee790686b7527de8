/** What the page does in the browser: sends the requests of its forms, and shows the answers. */
export const pageScript = `'use strict'
const base = new URL('.', location.href)

async function send(form, text) {
  const { method, path } = form.dataset
  if (method === 'GET') return fetch(new URL(path.replace(/\\{.*\\}/, encodeURIComponent(text.trim())), base))
  const headers = { 'content-type': 'application/json' }
  return fetch(new URL(path, base), { method, headers, body: text })
}

function show(output, line, text) {
  const status = document.createElement('p')
  status.textContent = line
  const body = document.createElement('pre')
  body.textContent = text
  body.tabIndex = 0
  output.replaceChildren(status, body)
}

function pretty(text) {
  try {
    JSON.parse(text)
  } catch {
    return text
  }
  // Digits beyond 2^53 stay as they are: only the space between is new.
  return text.replace(/("(?:[^"\\\\]|\\\\.)*")|([{,])/g, (found, string, mark) => (mark ? mark + '\\n  ' : found))
}

async function sample(name) {
  const answer = await fetch(new URL('docs/samples/' + name, base))
  return JSON.stringify(await answer.json(), null, 2)
}

addEventListener('submit', async (event) => {
  event.preventDefault()
  const form = event.target
  const field = form.elements.text
  const output = form.querySelector('output')
  output.textContent = 'Sending'
  try {
    if (event.submitter?.name === 'sample') field.value = await sample(event.submitter.value)
    const answer = await send(form, field.value)
    const text = await answer.text()
    show(output, answer.status + ' ' + answer.statusText, pretty(text))
    const hash = /"transactionHash":\\s*"(0x[0-9a-f]{64})"/.exec(text)?.[1]
    const look = document.querySelector('form[data-path^="transactions/"]')
    if (hash && look && look !== form) look.elements.text.value = hash
  } catch (error) {
    show(output, 'No answer', String(error))
  }
})
`
