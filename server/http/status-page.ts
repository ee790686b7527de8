import type { Route } from './route.ts'

/** What the status page tells; nothing in it is secret. */
export interface ServiceStatus {
  readonly chainId: string
  /** Ids by kind. */
  readonly plugins: Readonly<Record<string, readonly string[]>>
  /** Relay calls of the last 24 hours by outcome. */
  readonly relays: Readonly<Record<string, number>>
  /** Plans by name. */
  readonly plans: readonly { readonly name: string; readonly model: string; readonly unit: string }[]
  readonly registration: 'open' | 'registered'
}

/** `GET /`: what this is, for a person who opens the URL in a browser. */
export function statusRoute(readStatus: () => Promise<ServiceStatus>): Route {
  return {
    method: 'GET',
    path: '/',
    handle: async (ctx) => {
      const status = await readStatus()
      ctx.type = 'html'
      ctx.set('Content-Security-Policy', "default-src 'none'; style-src 'unsafe-inline'")
      ctx.set('Cache-Control', 'no-store')
      ctx.body = page(status)
    },
  }
}

function page({ chainId, plugins, relays, plans, registration }: ServiceStatus): string {
  const open = registration === 'open' ? 'every profile' : 'registered profiles'
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
<p>Sends relay calls for ${open} on chain ${escapeHtml(chainId)}, and answers Ethereum JSON-RPC.
<a href="docs">Both interfaces, to read and to try</a>.</p>
<section aria-labelledby="relays"><h2 id="relays">Relay calls of the last 24 hours</h2>
${table(['Outcome', 'Calls'], Object.entries(relays), 'No calls yet.')}</section>
<section aria-labelledby="plans"><h2 id="plans">Quota plans</h2>
${table(
  ['Plan', 'Model', 'Unit'],
  plans.map(({ name, model, unit }) => [name, model, unit]),
  'No plans.',
)}</section>
<section aria-labelledby="plugins"><h2 id="plugins">Plugins</h2>
${table(
  ['Kind', 'Loaded'],
  Object.entries(plugins).map(([kind, ids]) => [kind, ids.join(', ')]),
  'No plugins.',
)}</section>
</main>
</body>
</html>
`
}

function table(heads: readonly string[], rows: readonly (readonly (string | number)[])[], none: string): string {
  if (rows.length === 0) return `<p>${none}</p>`
  const line = (tag: string, cells: readonly (string | number)[]) =>
    `<tr>${cells.map((cell) => `<${tag}>${escapeHtml(String(cell))}</${tag}>`).join('')}</tr>`
  return `<table><thead>${line('th', heads)}</thead><tbody>${rows.map((row) => line('td', row)).join('')}</tbody></table>`
}

const entities: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' }

function escapeHtml(text: string): string {
  return text.replace(/[&<>"]/g, (character) => entities[character] ?? character)
}

const style = `
:root { color-scheme: light dark; --line: #8884 }
body { margin: 0; font: 1rem/1.55 system-ui, sans-serif }
main { max-width: 44rem; margin: 0 auto; padding: 2rem 1.25rem }
h1 { font-size: 1.75rem; line-height: 1.2 } h2 { font-size: 1.125rem; margin-top: 2rem }
table { border-collapse: collapse; width: 100% }
th, td { text-align: left; vertical-align: top; padding: .4rem .75rem .4rem 0; border-bottom: 1px solid var(--line); overflow-wrap: anywhere }
th { font-weight: 500; opacity: .75 }
td:first-child { white-space: nowrap }
`
