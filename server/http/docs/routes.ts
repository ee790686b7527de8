import { readFile } from 'node:fs/promises'
import { parse as parseYaml } from 'yaml'
import { shared } from '../../concurrency/shared.ts'
import type { Route } from '../route.ts'
import type { OpenApi, OpenRpc } from './documents.ts'
import { pageScript } from './page-script.ts'
import { docsPage, type SampleName } from './page.ts'

/** Makes bodies that are signed and good for one use, for visitors who have no key. Only a testbed has a key to give. */
export type Samples = Readonly<Partial<Record<SampleName, () => Promise<object>>>>

const specs = new URL('../../../specs/', import.meta.url)

/** The page's own script sends the requests; its style stands in the page. */
const contentSecurityPolicy =
  "default-src 'none'; script-src 'self'; style-src 'unsafe-inline'; connect-src 'self'; base-uri 'none'; form-action 'none'"

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
  const page = shared(Infinity, async () =>
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

/** Made once, by whom it is asked for first: to parse the YAML takes more than 100 ms. */
function document(name: string, type: string, make: () => Promise<string>): Route {
  const made = shared(Infinity, make)
  return {
    method: 'GET',
    path: `/docs/${name}`,
    handle: async (ctx) => {
      ctx.type = type
      ctx.body = await made()
    },
  }
}
