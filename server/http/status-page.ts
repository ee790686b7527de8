import type { Logger } from 'pino'
import { html, htmlPage, htmlTable, type Markup } from './html.ts'
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
  const body = html`<h1>Transaction relay service</h1>
    ${verdict(findings)}
    <p>
      Sends relay calls for ${served} on chain ${shown(chainId)}, and answers Ethereum JSON-RPC.
      <a href="docs">Both interfaces, to read and to try</a>.
    </p>
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
    <p class="quiet">Touchstone ${version}</p>`
  return htmlPage('Transaction relay service', body, { style })
}

/** The first line: does it work? */
function verdict(findings: ServiceStatus['findings']): Markup {
  const named = (outcome: string) => findings.filter(([, found]) => found === outcome).map(([name]) => name)
  const [failed, degraded] = [named('failed'), named('degraded')]
  if (failed.length > 0) return line('bad', `It does not work: ${failed.join(', ')}`)
  if (degraded.length > 0) return line('poor', `It works in part: ${degraded.join(', ')}`)
  return line('good', 'It works')
}

const line = (kind: string, text: string) => html`<p class="verdict ${kind}" role="status">${text}</p>`

/** A cell whose colour shows a state; its word says the same. */
interface Word {
  readonly kind: 'good' | 'poor' | 'bad'
  readonly text: string
}

const kinds: Readonly<Record<string, Word['kind']>> = { ok: 'good', degraded: 'poor', low: 'poor' }
const word = (text: string): Word => ({ kind: kinds[text] ?? 'bad', text })

const shown = (value: string | number | undefined) => (value === undefined ? 'not known now' : String(value))

const blockText = (block: ServiceStatus['latestBlock']) =>
  block ? `${block.number}, ${block.ageSeconds} s old` : shown(undefined)

function section(title: string, heads: readonly string[], rows: readonly (readonly (string | Word)[])[]): Markup {
  const id = title.toLowerCase().replaceAll(' ', '-')
  const table = htmlTable(
    heads,
    rows.map((row) => row.map(cell)),
  )
  return html`<section aria-labelledby="${id}">
    <h2 id="${id}">${title}</h2>
    ${rows.length === 0 ? html`<p>None.</p>` : table}
  </section>`
}

function cell(value: string | Word): string | Markup {
  if (typeof value !== 'string') return html`<span class="${value.kind}">${value.text}</span>`
  // On a narrow screen an address may break anywhere.
  return value.startsWith('0x') ? html`<span class="address">${value}</span>` : value
}

const style = `
.verdict { font-size: 1.25rem; font-weight: 600; margin: .5rem 0 1rem } .quiet { margin-top: 2rem }
.good { color: var(--good) } .poor { color: var(--poor) } .bad { color: var(--bad) }
.address { overflow-wrap: anywhere }
`
