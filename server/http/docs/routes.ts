import { readFile } from 'node:fs/promises'
import { parse as parseYaml } from 'yaml'
import { shared } from '../../concurrency/shared.ts'
import type { Route } from '../route.ts'
import { type OpenApi, type OpenRpc, docsPage, type SampleName } from './page.ts'

/** Makes bodies that are signed and good for one use, for visitors who have no key. Only a testbed has a key to give. */
export type Samples = Readonly<Partial<Record<SampleName, () => Promise<object>>>>

const specs = new URL('../../../specs/', import.meta.url)

/** The page's own script sends the requests; its style stands in the page. */
const contentSecurityPolicy =
  "default-src 'none'; script-src 'self'; style-src 'unsafe-inline'; img-src data:; connect-src 'self'; base-uri 'none'; form-action 'none'"

/**
 * `GET /docs`: both interfaces on one page, where one can send each request. Links are relative, so that the page works
 * under any prefix.
 */
export function docsRoutes(samples: Samples = {}): Route[] {
  // "..": the server that the page came from.
  const openApi = shared(Infinity, async () => ({
    ...(parseYaml(await readSpec('openapi.yaml')) as OpenApi),
    servers: [{ url: '..' }],
  }))
  const openRpc = shared(Infinity, () => readSpec('openrpc.json'))
  const page = madeOnce(async () =>
    docsPage({
      openApi: await openApi(),
      openRpc: JSON.parse(await openRpc()) as OpenRpc,
      samples: new Set(Object.keys(samples)),
    }),
  )
  return [
    {
      method: 'GET',
      path: '/docs',
      handle: async (ctx) => {
        // A trailing slash would bend the page's relative links.
        if (ctx.path.endsWith('/')) return ctx.redirect('../docs')
        ctx.type = 'html'
        ctx.set('Content-Security-Policy', contentSecurityPolicy)
        ctx.body = await page()
      },
    },
    document('page.js', 'text/javascript', async () => pageScript),
    document('openapi.json', 'json', async () => JSON.stringify(await openApi())),
    document('openrpc.json', 'json', openRpc),
    ...Object.entries(samples).map(([name, make]): Route => ({
      method: 'GET',
      path: `/docs/samples/${name}`,
      handle: async (ctx) => {
        ctx.set('Cache-Control', 'no-store')
        ctx.body = await make()
      },
    })),
  ]
}

const readSpec = (name: string) => readFile(new URL(name, specs), 'utf8')

/** Made by whom it is asked for first, as bytes that all get: to parse the YAML takes more than 100 ms, to encode it one. */
const madeOnce = (make: () => Promise<string>) => shared(Infinity, async () => Buffer.from(await make()))

function document(name: string, type: string, make: () => Promise<string>): Route {
  const made = madeOnce(make)
  return {
    method: 'GET',
    path: `/docs/${name}`,
    handle: async (ctx) => {
      ctx.type = type
      ctx.body = await made()
    },
  }
}
/** What the page does in the browser: sends the requests of its forms, and shows the answers. */
const pageScript = `'use strict'
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
