import { expect } from 'chai'
import { build } from 'esbuild'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import type { Page } from 'playwright-core'
import { serve, type TestServer } from '../../conformance/test/support/serve.ts'
import { launchBrowser, type Browser } from '../../testbed/test/support/browser.ts'
import { startWorld, succeed, type World } from './support/world.ts'

const index = join(import.meta.dirname, '../index.ts')
const LARGEST_BYTES = 12_000

/** What a page would load that uses the client in this way. */
async function bundle(contents: string): Promise<string> {
  const { outputFiles } = await build({
    stdin: { contents, resolveDir: import.meta.dirname, loader: 'ts' },
    bundle: true,
    minify: true,
    write: false,
    format: 'esm',
    // A module of Node would be an error.
    platform: 'browser',
  })
  return outputFiles[0]?.text ?? ''
}

describe('the client in a bundle', () => {
  it('takes 12 kB at most, compressed, and nothing of Node', async () => {
    const code = await bundle(`export * from ${JSON.stringify(index)}`)
    expect(gzipSync(code).length).to.be.below(LARGEST_BYTES)
    expect(code).not.to.match(/["'`]node:|\bBuffer\.|\bprocess\.|\brequire\(/)
    expect(code).not.to.match(/\bimport\s*[({"']/)
  })

  it('leaves out what is not used', async () => {
    const code = await bundle(`import { isRelayError } from ${JSON.stringify(index)}\nconsole.log(isRelayError(1))`)
    expect(code.length).to.be.below(1_500)
  })
})

/** As a dapp does it: its own origin, a bundle, the relay and the node elsewhere. */
const dapp = (settings: object) => `
import { Wallet } from 'ethers'
import { createRelayClient, createRelayProvider, isRelayError } from ${JSON.stringify(index)}

const { key, calls, ...options } = ${JSON.stringify(settings)}
const client = createRelayClient({ ...options, controller: new Wallet(key) })
async function run() {
  const before = await client.quota()
  const hashes = await Promise.all(calls.map(async (call) => (await client.execute(call)).transactionHash))
  const outcomes = await Promise.all(hashes.map((hash) => client.wait(hash)))
  const after = await client.quota()
  const refused = await client.execute('0x12345678').catch((error) => isRelayError(error, 'RELAY_CALL_REVERTS') && error.broadcast)
  return { statuses: outcomes.map(({ status }) => status), unit: after.unit, fell: after.quota < before.quota, refused }
}
globalThis.run = run
`

describe('the client in a browser', () => {
  let world: World
  let browser: Browser
  let site: TestServer
  let page: Page

  before(async function () {
    browser = await launchBrowser(this)
    // The clock of the machine is off by an hour; a page may not read the header Date of another origin.
    world = await startWorld({ clockOffsetMs: 3_600_000 })
    const { fixture, relayUrl, rpcUrl, target } = world
    const settings = {
      relayUrl,
      node: rpcUrl,
      profile: fixture.profile.address,
      key: fixture.controllers.full.privateKey,
      calls: [1, 2, 3].map((value) => succeed(target, value)),
    }
    const { outputFiles } = await build({
      stdin: { contents: dapp(settings), resolveDir: import.meta.dirname },
      bundle: true,
      write: false,
      format: 'esm',
      platform: 'browser',
    })
    const code = outputFiles[0]?.text ?? ''
    site = await serve((request, response) => {
      const isCode = request.url === '/dapp.js'
      response.setHeader('content-type', isCode ? 'text/javascript' : 'text/html')
      response.end(isCode ? code : '<!doctype html><script type="module" src="/dapp.js"></script>')
    })
    page = await browser.context.newPage()
  })
  after(async () => {
    await browser?.close()
    await site?.[Symbol.asyncDispose]()
    await world?.close()
  })

  it('executes, waits, tells the quota and a refusal, from another origin', async () => {
    await page.goto(site.url)
    await page.waitForFunction('globalThis.run')
    expect(await page.evaluate('run()')).to.deep.equal({
      statuses: ['executed', 'executed', 'executed'],
      unit: 'gas',
      fell: true,
      refused: false,
    })
    expect(await world.calls()).to.equal(3)
  })
})
