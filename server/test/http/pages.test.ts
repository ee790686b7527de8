import { expect } from 'chai'
import type { Page } from 'playwright-core'
import { axeViolations, launchBrowser, type Browser } from '../../../testbed/test/support/browser.ts'
import { startTestbed, type Testbed } from '../../../testbed/testbed.ts'

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

  it('spares a browser the request for an icon, and lets the policy of each page allow that', async () => {
    for (const path of ['/', '/docs', '/try']) {
      const response = await fetch(`${testbed.relayUrl}${path}`)
      expect(await response.text(), path).to.match(/<link rel="icon" href="data:,"/)
      expect(response.headers.get('Content-Security-Policy'), path).to.include('img-src data:;')
    }
  })

  it('shows both interfaces, without a fault that axe knows', async () => {
    await page.goto(`${testbed.relayUrl}/docs`)
    const requests = ['POST /execute', 'POST /quota', 'GET /transactions/{hash}', ...Object.keys(methods)]
    expect(await page.getByRole('navigation').getByRole('link').allTextContents()).to.deep.equal(requests)
    for (const name of requests) expect(await page.getByRole('region', { name, exact: true }).count(), name).to.equal(1)
    const errors = page.getByRole('region', { name: 'POST /quota' }).getByRole('table', { name: 'Errors' })
    expect(await errors.innerText())
      .to.include('STALE_TIMESTAMP')
      .and.not.include('NONCE_USED')
    expect(await axeViolations(page)).to.deep.equal([])
    await page.setViewportSize({ width: 390, height: 844 })
    expect(await page.evaluate('document.documentElement.scrollWidth')).to.equal(390)
  })

  it('sends a signed call and a quota request when one presses the button, and looks the call up', async () => {
    await page.goto(`${testbed.relayUrl}/docs`)
    const answers: string[] = []
    for (const name of ['POST /quota', 'POST /execute', 'POST /execute']) {
      const request = page.getByRole('region', { name })
      await request.getByRole('button', { name: 'Send a signed example' }).click()
      await request.locator('output pre').waitFor()
      await request.getByText('200 OK').waitFor()
      answers.push(await request.getByRole('status').innerText())
      // The answer of the next press must not be taken for this one.
      await request.locator('output').evaluate('(output) => output.replaceChildren()')
    }
    expect(answers[0]).to.include('"quota"').and.include('"unit"')
    expect(answers[1]).to.match(/"transactionHash":\s*"0x[0-9a-f]{64}"/)
    const look = page.getByRole('region', { name: 'GET /transactions/{hash}' })
    await look.getByRole('button', { name: 'Send' }).click()
    await look.getByText('200 OK').waitFor()
    expect(await look.getByRole('status').innerText()).to.include('"status"')
  })

  it('sends every JSON-RPC method as it stands', async () => {
    await page.goto(`${testbed.relayUrl}/docs`)
    for (const [method, result] of Object.entries(methods)) {
      const request = page.getByRole('region', { name: method })
      await request.getByRole('button', { name: 'Send' }).click()
      await request.getByText('200 OK').waitFor()
      expect(await request.getByRole('status').innerText(), method).to.match(result)
    }
  })

  it('shows what a visitor has written wrong', async () => {
    await page.goto(`${testbed.relayUrl}/docs`)
    const request = page.getByRole('region', { name: 'eth_chainId' })
    await request.getByRole('textbox').fill('{')
    await request.getByRole('button', { name: 'Send' }).click()
    await request.getByText('-32700').waitFor()
  })
})

/** What the methods answer to the examples of their schemas. */
const methods = {
  eth_blockNumber: /"result":\s*"0x[0-9a-f]+"/,
  eth_chainId: /"result":\s*"0x7a69"/,
  eth_gasPrice: /"result":\s*"0x[0-9a-f]+"/,
  eth_getBalance: /"result":\s*"0x[0-9a-f]+"/,
  eth_getLogs: /"result":\s*\[/,
  eth_getTransactionByHash: /"result":\s*null/,
  eth_getTransactionReceipt: /"result":\s*null/,
  eth_maxPriorityFeePerGas: /"result":\s*"0x[0-9a-f]+"/,
}
