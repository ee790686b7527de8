import type { Logger } from 'pino'
import type { Route } from './route.ts'
import type { ServiceStatus } from './service-status.ts'

/** `GET /`: whether the service works, for a person who opens its URL in a browser. */
export function statusRoute(readStatus: (log: Logger) => Promise<ServiceStatus>): Route {
  return {
    method: 'GET',
    path: '/',
    handle: async (ctx) => {
      const status = await readStatus(ctx.state.log)
      ctx.type = 'html'
      ctx.set('Content-Security-Policy', "default-src 'none'; style-src 'unsafe-inline'")
      ctx.set('Cache-Control', 'no-store')
      ctx.body = page(status)
    },
  }
}

function page(status: ServiceStatus): string {
  const { version, chainId, registration, findings, plugins } = status
  const served = registration === 'open' ? 'every profile' : 'registered profiles'
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Transaction relay service</title>
<style>${style}</style>
</head>
<body>
<main>
<h1>Transaction relay service</h1>
${verdict(findings)}
<p>Sends relay calls for ${served} on chain ${shown(chainId)}, and answers Ethereum JSON-RPC.
<a href="docs">Both interfaces, to read and to try</a>.</p>
${section(
  'Checks',
  ['Part', 'State'],
  findings.map(([name, outcome]) => [name, word(outcome)]),
)}
${section(
  'Accounts that pay',
  ['Address', 'Balance', 'State'],
  status.signers.map(({ address, balance, state }) => [address, String(balance), word(state)]),
)}
${section(
  'Chain and queue',
  ['What', 'Now'],
  [
    ['latest block', blockText(status.latestBlock)],
    ['relay calls that wait to be mined', shown(status.pending)],
    ...Object.entries(status.relays ?? {}).map(([outcome, count]) => [
      `${outcome} in the last 24 hours`,
      String(count),
    ]),
  ],
)}
${section(
  'Quota plans',
  ['Plan', 'Model', 'Allowance of a new profile'],
  status.plans.map(({ name, model, allowance }) => [name, model, allowance]),
)}
${section(
  'Plugins',
  ['Kind', 'Loaded'],
  Object.entries(plugins).map(([kind, ids]) => [kind, ids.join(', ')]),
)}
<p class="quiet">Touchstone ${escapeHtml(version)}</p>
</main>
</body>
</html>
`
}

/** The first line: does it work? */
function verdict(findings: ServiceStatus['findings']): string {
  const named = (outcome: string) => findings.filter(([, found]) => found === outcome).map(([name]) => name)
  const [failed, degraded] = [named('failed'), named('degraded')]
  if (failed.length > 0) return line('bad', `It does not work: ${failed.join(', ')}`)
  if (degraded.length > 0) return line('poor', `It works in part: ${degraded.join(', ')}`)
  return line('good', 'It works')
}

const line = (kind: string, text: string) => `<p class="verdict ${kind}" role="status">${escapeHtml(text)}</p>`

/** A cell with a state in colour; the word says the same. */
interface Word {
  readonly kind: 'good' | 'poor' | 'bad'
  readonly text: string
}

const kinds: Readonly<Record<string, Word['kind']>> = { ok: 'good', degraded: 'poor', low: 'poor' }
const word = (text: string): Word => ({ kind: kinds[text] ?? 'bad', text })

const shown = (value: string | number | undefined) => (value === undefined ? 'not known now' : String(value))

const blockText = (block: ServiceStatus['latestBlock']) =>
  block ? `${block.number}, ${block.ageSeconds} s old` : shown(undefined)

function section(title: string, heads: readonly string[], rows: readonly (readonly (string | Word)[])[]): string {
  const id = title.toLowerCase().replaceAll(' ', '-')
  const cell = (value: string | Word) => {
    const { kind, text } =
      typeof value === 'string' ? { kind: value.startsWith('0x') ? 'address' : '', text: value } : value
    return `<td${kind && ` class="${kind}"`}>${escapeHtml(text)}</td>`
  }
  const head = heads.map((name) => `<th scope="col">${escapeHtml(name)}</th>`).join('')
  const body = rows.map((row) => `<tr>${row.map(cell).join('')}</tr>`).join('')
  const table = `<table><thead><tr>${head}</tr></thead><tbody>${body}</tbody></table>`
  return `<section aria-labelledby="${id}"><h2 id="${id}">${escapeHtml(title)}</h2>
${rows.length === 0 ? '<p>None.</p>' : table}</section>`
}

const entities: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' }

function escapeHtml(text: string): string {
  return text.replace(/[&<>"]/g, (character) => entities[character] ?? character)
}

const style = `
:root { color-scheme: light dark; --line: #8884; --good: light-dark(#0a6b34, #5fd08b); --poor: light-dark(#8a5300, #f0b35a); --bad: light-dark(#b3261e, #ff9c94) }
body { margin: 0; font: 1rem/1.55 system-ui, sans-serif; color: light-dark(#1b1b1f, #e6e6ea); background: light-dark(#fff, #141417) }
a { color: light-dark(#0b57d0, #8ab4f8) }
main { max-width: 44rem; margin: 0 auto; padding: 2rem 1.25rem }
h1 { font-size: 1.75rem; line-height: 1.2; margin: 0 } h2 { font-size: 1.125rem; margin: 2rem 0 .25rem }
.verdict { font-size: 1.25rem; font-weight: 600; margin: .5rem 0 1rem } .quiet { margin-top: 2rem }
.good { color: var(--good) } .poor { color: var(--poor) } .bad { color: var(--bad) }
table { border-collapse: collapse; width: 100% }
th, td { text-align: left; vertical-align: top; padding: .4rem .75rem .4rem 0; border-bottom: 1px solid var(--line); overflow-wrap: break-word }
td.address { overflow-wrap: anywhere }
th { font-weight: 600 }
`
