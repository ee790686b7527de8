import { expect } from 'chai'
import type { Page } from 'playwright-core'
import { axeViolations } from '../../../scripts/test/support/axe.ts'
import { launchBrowser, type Browser } from '../../../scripts/test/support/browser.ts'
import { startTestbed, type Testbed } from '../../../scripts/testbed.ts'

describe('the pages of the server in a browser', function () {
  let testbed: Testbed
  let browser: Browser
  let page: Page
  let problems: string[]
  let foreign: string[]

  before(async function () {
    browser = await launchBrowser(this)
    testbed = await startTestbed()
  })
  after(async () => {
    await browser?.close()
    await testbed?.close()
  })

  beforeEach(async () => {
    problems = []
    foreign = []
    page = await browser.context.newPage()
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
    expect(await page.getByRole('status').textContent()).to.equal('It works')
    expect(await page.getByRole('region', { name: 'Accounts that pay' }).innerText()).to.match(
      /0x[0-9a-fA-F]{40}\s+[\d.]+\s+ok/,
    )
    expect(await axeViolations(page)).to.deep.equal([])
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
