import { createReadStream } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import path from 'node:path'
import { parse as parseYaml } from 'yaml'
import { shared } from '../concurrency/shared.ts'
import type { Route } from './route.ts'

/** Files of the viewer that the page loads, with their types. */
const viewerFiles: Readonly<Record<string, string>> = {
  'swagger-ui.css': 'text/css',
  'swagger-ui-bundle.js': 'text/javascript',
  'swagger-ui-standalone-preset.js': 'text/javascript',
  'favicon-32x32.png': 'image/png',
}

const specs = new URL('../../specs/', import.meta.url)

/**
 * `GET /docs`: both interfaces in Swagger UI, served from here, where one can try a request. Links are relative, so
 * that the page works under any prefix.
 */
export function docsRoutes(): Route[] {
  const viewerFolder = path.dirname(createRequire(import.meta.url).resolve('swagger-ui-dist/package.json'))
  const assets: Route[] = Object.entries(viewerFiles).map(([name, type]) => ({
    method: 'GET',
    path: `/docs/${name}`,
    handle: (ctx) => {
      ctx.type = type
      ctx.set('Cache-Control', 'public, max-age=86400')
      ctx.body = createReadStream(path.join(viewerFolder, name))
    },
  }))
  return [
    {
      method: 'GET',
      path: '/docs',
      handle: (ctx) => {
        // A trailing slash would bend the page's relative links.
        if (ctx.path.endsWith('/')) return ctx.redirect('../docs')
        ctx.type = 'html'
        ctx.set('Content-Security-Policy', contentSecurityPolicy)
        ctx.body = page
      },
    },
    ...assets,
    {
      method: 'GET',
      path: '/docs/initializer.js',
      handle: (ctx) => {
        ctx.type = 'text/javascript'
        ctx.body = initializer
      },
    },
    document('openapi.json', async () => {
      const openApi = parseYaml(await readSpec('openapi.yaml')) as object
      // "Try it out" goes to the server that the page came from.
      return JSON.stringify({ ...openApi, servers: [{ url: '..' }] })
    }),
    document('openrpc.json', () => readSpec('openrpc.json')),
    document('json-rpc.json', async () => {
      return JSON.stringify(openRpcAsOpenApi(JSON.parse(await readSpec('openrpc.json')) as OpenRpc))
    }),
  ]
}

const readSpec = (name: string) => readFile(new URL(name, specs), 'utf8')

/** Made once, by whom it is asked for first: to parse the YAML takes more than 100 ms. */
function document(name: string, make: () => Promise<string>): Route {
  const made = shared(Infinity, make)
  return {
    method: 'GET',
    path: `/docs/${name}`,
    handle: async (ctx) => {
      ctx.type = 'json'
      ctx.body = await made()
    },
  }
}

interface OpenRpc {
  readonly info: object
  readonly components?: object
  readonly methods: readonly {
    readonly name: string
    readonly summary?: string
    readonly description?: string
    readonly params: readonly { readonly name: string; readonly schema: object }[]
    readonly result: { readonly schema: object }
    readonly examples?: readonly { readonly params: readonly { readonly value: unknown }[] }[]
  }[]
}

/**
 * The viewer reads OpenAPI only. Each method becomes a path of its own: what stands after `#` never leaves the
 * browser, so that "try it out" sends every method to the one endpoint.
 */
function openRpcAsOpenApi({ info, components, methods }: OpenRpc): object {
  const envelope = (member: 'params' | 'result', schema: object, more: object) => ({
    type: 'object',
    required: ['jsonrpc', 'id', member],
    properties: { jsonrpc: { const: '2.0' }, id: { type: 'integer' }, ...more, [member]: schema },
  })
  const paths = methods.map(({ name, summary, description, params, result, examples }) => {
    const positional = { type: 'array', prefixItems: params.map(({ schema }) => schema), maxItems: params.length }
    const example = {
      jsonrpc: '2.0',
      id: 1,
      method: name,
      params: examples?.[0]?.params.map(({ value }) => value) ?? [],
    }
    const operation = {
      operationId: name,
      summary,
      description,
      requestBody: {
        required: true,
        content: {
          'application/json': { schema: envelope('params', positional, { method: { const: name } }), example },
        },
      },
      responses: {
        200: {
          description: 'successful operation',
          content: { 'application/json': { schema: envelope('result', result.schema, {}) } },
        },
      },
    }
    return [`/api/eth-rpc#${name}`, { post: operation }]
  })
  return { openapi: '3.1.0', info, servers: [{ url: '..' }], paths: Object.fromEntries(paths) as object, components }
}

// Swagger UI writes styles into elements; scripts come from here alone.
const contentSecurityPolicy =
  "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; connect-src 'self'"

const page = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Relay service: interfaces</title>
<link rel="stylesheet" href="docs/swagger-ui.css">
<link rel="icon" href="docs/favicon-32x32.png">
</head>
<body>
<main id="viewer"></main>
<script src="docs/swagger-ui-bundle.js"></script>
<script src="docs/swagger-ui-standalone-preset.js"></script>
<script src="docs/initializer.js"></script>
</body>
</html>
`

const initializer = `addEventListener('load', () => {
  SwaggerUIBundle({
    dom_id: '#viewer',
    urls: [
      { name: 'Relay service (OpenAPI)', url: 'docs/openapi.json' },
      { name: 'Ethereum JSON-RPC (OpenRPC)', url: 'docs/json-rpc.json' },
    ],
    presets: [SwaggerUIBundle.presets.apis, SwaggerUIStandalonePreset],
    layout: 'StandaloneLayout',
    deepLinking: true,
    validatorUrl: null,
  })
})
`
