import { expect } from 'chai'
import type { Page } from 'playwright-core'
import { startTestbed, testbedConfig, type Testbed } from '../../../testbed/testbed.ts'
import { startServer } from '../../../server/start.ts'
import { axeViolations, launchBrowser, type Browser } from '../../../testbed/test/support/browser.ts'

describe('the page /try of the testbed in a browser', function () {
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
    page.on('request', (request) => request.url().startsWith(testbed.relayUrl) || foreign.push(request.url()))
  })
  afterEach(async () => {
    await page.close()
    expect(foreign, 'requests to elsewhere').to.deep.equal([])
  })

  const quota = async () => BigInt((await page.locator('#quota').getAttribute('data-quota')) ?? '0')
  const connect = async () => {
    await page.goto(`${testbed.relayUrl}/try`)
    await page.getByRole('button', { name: 'Connect' }).click()
    await page.locator('#quota[data-quota]').waitFor()
  }

  it('sends a call, shows it mined, and the quota fall', async () => {
    await connect()
    expect(await page.locator('#profile').innerText()).to.equal(testbed.fixture.profile.address)
    const before = await quota()
    const balance = async () => {
      const params = [testbed.fixture.controllers.noSign.address, 'latest']
      return BigInt((await testbed.chain.provider.request({ method: 'eth_getBalance', params })) as string)
    }
    const balanceBefore = await balance()
    await page.getByRole('button', { name: 'Send' }).click()
    const call = page.locator('#calls li[data-status=executed]')
    await call.waitFor()
    expect(await call.innerText()).to.match(
      /^Executed\s+Block \d+, [\d,]+ gas, [\d,]+ gas off the quota\. 0x[0-9a-f]{64}$/,
    )
    const [, gas = ''] = / ([\d,]+) gas off/.exec(await call.innerText()) ?? []
    expect(before - (await quota())).to.equal(BigInt(gas.replaceAll(',', '')))
    expect((await balance()) - balanceBefore).to.equal(10n ** 16n)
    expect(problems).to.deep.equal([])
  })

  it('shows why a call is refused', async () => {
    await connect()
    await page.getByLabel('Value in LYX').fill('1000000')
    await page.getByRole('button', { name: 'Send' }).click()
    const call = page.locator('#calls li[data-status=failed]')
    await call.waitFor()
    expect(await call.innerText()).to.match(/^RELAY_CALL_REVERTS\s/)
    // The browser reports the status of the answer.
    expect(problems.filter((problem) => !problem.includes('422'))).to.deep.equal([])
  })

  it('is readable on a telephone, and axe finds nothing on it', async () => {
    await page.setViewportSize({ width: 390, height: 844 })
    await connect()
    await page.getByRole('button', { name: 'Send' }).click()
    await page.locator('#calls li[data-status=executed]').waitFor()
    expect(await page.evaluate('document.documentElement.scrollWidth')).to.equal(390)
    expect(await axeViolations(page)).to.deep.equal([])
  })

  it('is no part of a server that is deployed', async () => {
    const server = await startServer(testbedConfig(testbed.chain, 0))
    try {
      for (const path of ['try', 'try/testbed.json', 'try/client/index.ts']) {
        expect((await fetch(`${server.url}/${path}`)).status, path).to.equal(404)
      }
      expect((await fetch(`${server.url}/try/rpc`, { method: 'POST', body: '{}' })).status).to.equal(404)
    } finally {
      await server.close()
    }
  })

  it('serves the modules of the page, and no other files', async () => {
    for (const path of [
      'client/../package.json',
      'client/%2e%2e%2fpackage.json',
      'client/tsconfig.json',
      'modules/toString',
      'client/none.ts',
    ]) {
      expect((await fetch(`${testbed.relayUrl}/try/${path}`)).status, path).to.equal(404)
    }
    const answer = await fetch(`${testbed.relayUrl}/try/`, { redirect: 'manual' })
    expect(answer.status).to.equal(302)
    expect(
      (await fetch(answer.headers.get('location') ? new URL(answer.headers.get('location') ?? '', answer.url) : ''))
        .status,
    ).to.equal(200)
  })
})
