import { createHash } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { stripTypeScriptTypes } from 'node:module'
import { dirname, join } from 'node:path'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import type { Fixture } from '../contracts/deploy/fixture.ts'
import { ServiceError } from '../server/core/errors.ts'
import { noIcon } from '../server/http/html.ts'
import type { Route } from '../server/http/route.ts'

const client = join(import.meta.dirname, '../client')
/** The repository holds sources, the published package the JavaScript that is built from them. */
const isSource = import.meta.filename.endsWith('.ts')
const extension = isSource ? 'ts' : 'js'

const folderOf = (module: string) => dirname(fileURLToPath(import.meta.resolve(module)))
const noble = folderOf('@noble/hashes/sha3.js')
const ethers = join(folderOf('ethers'), '../dist')

/** Modules of packages, by the name in the URL. */
const modules: Readonly<Record<string, string>> = {
  'sha3.js': join(noble, 'sha3.js'),
  '_u64.js': join(noble, '_u64.js'),
  'utils.js': join(noble, 'utils.js'),
  'crypto.js': join(noble, 'crypto.js'),
  'ethers.js': join(ethers, 'ethers.min.js'),
}

const importMap = JSON.stringify({
  imports: {
    '@noble/hashes/sha3.js': './try/modules/sha3.js',
    '@noble/hashes/utils.js': './try/modules/utils.js',
    '@noble/hashes/crypto': './try/modules/crypto.js',
    ethers: './try/modules/ethers.js',
  },
})

/**
 * `GET /try` of the testbed: a page that sends relay calls by the client of this repository, with a key of the testbed.
 * No deployed server has this page.
 *
 * @param readFixture resolves with the fixture when its contracts are deployed
 */
export function tryRoutes(readFixture: () => Promise<Pick<Fixture, 'profile' | 'controllers' | 'chain'>>): Route[] {
  return [
    {
      method: 'GET',
      path: '/try',
      handle: (ctx) => {
        // With a slash at the end, the page's relative links would lead elsewhere.
        if (ctx.path.endsWith('/')) return ctx.redirect('../try')
        ctx.type = 'html'
        ctx.set('Content-Security-Policy', contentSecurityPolicy)
        ctx.body = page
      },
    },
    script('/try/client/:file', (file) => readClient(file)),
    script('/try/client/try/:file', (file) => readClient(join('try', file))),
    script('/try/modules/:file', async (file) => {
      const path = Object.hasOwn(modules, file) ? modules[file] : undefined
      return path === undefined ? undefined : readFile(path, 'utf8')
    }),
    {
      method: 'GET',
      path: '/try/testbed.json',
      handle: async (ctx) => {
        const { profile, controllers } = await readFixture()
        ctx.set('Cache-Control', 'no-store')
        ctx.body = { profile: profile.address, controller: controllers.full, recipient: controllers.noSign.address }
      },
    },
    {
      method: 'POST',
      path: '/try/rpc',
      handle: async (ctx) => {
        const { chain } = await readFixture()
        const headers = { 'content-type': 'application/json' }
        const answer = await fetch(chain.rpcUrl, { method: 'POST', headers, body: await text(ctx.req) })
        ctx.type = 'json'
        ctx.body = await answer.text()
      },
    },
  ]
}

/** Serves modules by the last part of the path. `read` returns undefined when there is no such module. */
function script(path: string, read: (file: string) => Promise<string | undefined>): Route {
  return {
    method: 'GET',
    path,
    handle: async (ctx) => {
      const file = ctx.path.slice(ctx.path.lastIndexOf('/') + 1)
      const code = await read(file)
      if (code === undefined) throw new ServiceError('NOT_FOUND', `there is no module ${file}`)
      ctx.type = 'text/javascript'
      ctx.set('Cache-Control', 'no-cache')
      ctx.body = code
    },
  }
}

async function readClient(file: string): Promise<string | undefined> {
  if (!new RegExp(String.raw`^(?:try/)?[a-z-]+\.${extension}$`).test(file)) return undefined
  const code = await readFile(join(client, file), 'utf8').catch(() => undefined)
  return isSource && code !== undefined ? stripTypeScriptTypes(code) : code
}

const style = `
:root { color-scheme: light dark; --page: #fafaf8; --text: #1d1f22; --muted: #565c64; --line: #8886; --accent: #1f56a8; --on-accent: #fff; --good: #17663a; --bad: #b0221b }
@media (prefers-color-scheme: dark) { :root { --page: #141517; --text: #e6e7e9; --muted: #a4abb4; --accent: #8fb8f6; --on-accent: #10151d; --good: #71c797; --bad: #ff8f86 } }
* { box-sizing: border-box }
body { margin: 0; background: var(--page); color: var(--text); font: 1rem/1.55 system-ui, sans-serif }
main { max-width: 44rem; margin: 0 auto; padding: 2rem 1.25rem }
h1 { font-size: 1.75rem; line-height: 1.2 } h2 { font-size: 1.125rem; margin-top: 2rem }
a { color: var(--accent) }
dt, label, .muted { color: var(--muted) } dd { margin: 0 0 .6rem }
dd, li { overflow-wrap: anywhere }
fieldset { border: 0; margin: 0; padding: 0; display: grid; gap: .75rem }
label { display: grid; gap: .2rem }
input, button { font: inherit; color: var(--text); min-height: 2.75rem; border: 1px solid var(--line); border-radius: 6px; padding: .4rem .75rem }
input { width: 100%; background: transparent }
button { justify-self: start; background: var(--accent); color: var(--on-accent); border-color: transparent; cursor: pointer }
:disabled { opacity: .6; cursor: default }
:focus-visible { outline: 3px solid var(--accent); outline-offset: 2px }
ol { list-style: none; padding: 0 } li { padding: .6rem 0; border-bottom: 1px solid var(--line) }
li strong { display: block } li[data-status=executed] strong { color: var(--good) }
li[data-status=reverted] strong, li[data-status=failed] strong, li[data-status=abandoned] strong { color: var(--bad) }
`

const sourceOf = (inline: string) => `'sha256-${createHash('sha256').update(inline).digest('base64')}'`
const contentSecurityPolicy = [
  "default-src 'none'",
  `script-src 'self' ${sourceOf(importMap)}`,
  `style-src ${sourceOf(style)}`,
  'img-src data:',
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
].join('; ')

const page = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Try the relay</title>
${noIcon.text}
<style>${style}</style>
<script type="importmap">${importMap}</script>
<script type="module" src="try/client/try/page.${extension}"></script>
</head>
<body>
<main>
<h1>Try the relay</h1>
<p>This page signs a call of the testbed's profile, sends it to the relay, and waits for its block. The key is one of the
testbed: its chain is gone when it stops. <a href="docs">The interface of the relay</a>.</p>
<button id="connect" type="button">Connect</button>
<dl>
<dt>Profile</dt><dd id="profile">not connected</dd>
<dt>Controller</dt><dd id="controller">not connected</dd>
<dt>Quota</dt><dd><output id="quota">not connected</output></dd>
</dl>
<h2>A call of the profile</h2>
<form id="call">
<fieldset id="fields" disabled>
<label>To<input id="to" required pattern="0x[0-9a-fA-F]{40}" title="an address: 0x and 40 hex digits" autocomplete="off" spellcheck="false"></label>
<label>Value in LYX<input id="value" value="0.01" inputmode="decimal" pattern="[0-9]+([.][0-9]{1,18})?" title="an amount in LYX" autocomplete="off"></label>
<label>Data, in hex<input id="data" placeholder="0x" pattern="0x([0-9a-fA-F]{2})*" title="0x and pairs of hex digits" autocomplete="off" spellcheck="false"></label>
<button type="submit">Send</button>
</fieldset>
</form>
<h2>Calls</h2>
<ol id="calls" aria-live="polite"></ol>
</main>
</body>
</html>
`
