import { expect } from 'chai'
import { existsSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { chromium, type BrowserContext, type Page } from 'playwright-core'
import { startTestbed, type Testbed } from '../../../scripts/testbed.ts'

const executablePath = process.env['CHROMIUM_PATH'] ?? '/usr/bin/chromium'
const args = [
  '--headless',
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
]

describe('the pages of the server in a browser', function () {
  let testbed: Testbed
  let folder: string
  let context: BrowserContext
  let page: Page
  let problems: string[]
  let foreign: string[]

  before(async function () {
    // A machine without a browser still runs the other tests; CI installs one and must not pass without it.
    if (!existsSync(executablePath) && !process.env['CI']) this.skip()
    testbed = await startTestbed()
    folder = await mkdtemp(join(tmpdir(), 'touchstone-pages-'))
    context = await chromium.launchPersistentContext(folder, { executablePath, args })
  })
  after(async () => {
    await context?.close()
    await testbed?.close()
    if (folder) await rm(folder, { recursive: true, force: true })
  })

  beforeEach(async () => {
    problems = []
    foreign = []
    page = await context.newPage()
    page.on('pageerror', (error) => problems.push(error.message))
    page.on('console', (message) => message.type() === 'error' && problems.push(message.text()))
    page.on('request', (request) => {
      if (!request.url().startsWith(testbed.relayUrl) && !request.url().startsWith('data:')) foreign.push(request.url())
    })
  })
  afterEach(async () => {
    await page.close()
    expect(problems, 'errors in the console').to.deep.equal([])
    expect(foreign, 'requests to elsewhere').to.deep.equal([])
  })

  it('tells a person what this is, and leads to the documentation', async () => {
    await page.goto(`${testbed.relayUrl}/`)
    expect(await page.getByRole('heading', { level: 1 }).textContent()).to.equal('Transaction relay service')
    const text = await page.getByRole('main').innerText()
    expect(text).to.include('31337').and.include('every profile').and.include('eth_getLogs').and.include('lsp25')
    await page.getByRole('link').click()
    await page.waitForURL('**/docs')
  })

  it('shows the relay interface', async () => {
    await page.goto(`${testbed.relayUrl}/docs`)
    for (const path of ['/execute', '/quota', '/api/eth-rpc', '/transactions/{hash}']) {
      await page.locator(`[data-path="${path}"]`).first().waitFor()
    }
  })

  it('shows every JSON-RPC method, and lets one try it', async () => {
    await page.goto(`${testbed.relayUrl}/docs?urls.primaryName=Ethereum%20JSON-RPC%20(OpenRPC)`)
    const method = page.locator('#operations-default-eth_chainId')
    await method.waitFor()
    expect(await page.locator('.opblock').count()).to.equal(8)
    await method.locator('.opblock-summary-control').click()
    await method.getByRole('button', { name: 'Try it out' }).click()
    await method.getByRole('button', { name: 'Execute' }).click()
    const answer = method.locator('.live-responses-table .response .highlight-code')
    await answer.waitFor()
    expect(await answer.innerText()).to.include('"result": "0x7a69"')
  })
})
