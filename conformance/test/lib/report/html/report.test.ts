/// <reference lib="dom" />
/// <reference lib="dom.iterable" />

import { expect } from 'chai'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import type { Page } from 'playwright-core'
import { axeViolations, type Browser, launchBrowser } from '../../../../../testbed/test/support/browser.ts'
import { renderJunit } from '../../../../lib/report/ci.ts'
import { compareReports } from '../../../../lib/report/compare.ts'
import { compareHtml } from '../../../../lib/report/html/comparison.ts'
import { renderHtml } from '../../../../lib/report/html/report.ts'
import { clauseOf, failed, observed, reportOf, sampleReport } from '../../../support/samples.ts'

describe('the HTML report in a browser', function () {
  let folder: string
  let browser: Browser
  let page: Page
  let problems: string[]
  let requests: string[]

  before(async function () {
    browser = await launchBrowser(this)
    folder = await mkdtemp(join(tmpdir(), 'touchstone-html-'))
    await writeFile(join(folder, 'report.html'), renderHtml(sampleReport))
    const other = reportOf([
      clauseOf('eth-rpc.eth_chainId.success', failed),
      clauseOf('eth-rpc.limits.rate', { ...observed, observations: ['no answer of a rate limit was seen'] }),
    ])
    const sides = compareReports([
      { name: 'one', report: sampleReport },
      { name: 'two', report: other },
    ])
    await writeFile(join(folder, 'compare.html'), compareHtml(sides))
  })

  after(async () => {
    await browser?.close()
    if (folder) await rm(folder, { recursive: true, force: true })
  })

  async function open(file: string, settings: { dark?: boolean; width?: number } = {}): Promise<void> {
    page = await browser.context.newPage()
    problems = []
    requests = []
    page.on('console', (message) => problems.push(message.text()))
    page.on('pageerror', (error) => problems.push(error.message))
    page.on('request', (request) => requests.push(request.url()))
    await page.emulateMedia({ colorScheme: settings.dark ? 'dark' : 'light' })
    await page.setViewportSize({ width: settings.width ?? 1200, height: 900 })
    await page.goto(pathToFileURL(join(folder, file)).href)
  }

  afterEach(async () => {
    await page?.close()
  })

  const rows = () => page.locator('article:visible').count()

  for (const file of ['report.html', 'compare.html']) {
    it(`${file} opens without errors, asks for nothing, and axe finds nothing`, async () => {
      await open(file)
      await page.evaluate(() => document.querySelectorAll('details').forEach((details) => (details.open = true)))
      expect(await axeViolations(page)).to.deep.equal([])
      expect(problems).to.deep.equal([])
      expect(requests.filter((url) => !url.startsWith('data:'))).to.have.lengthOf(1)
    })

    it(`${file} fits a phone`, async () => {
      await open(file, { width: 360 })
      await page.evaluate(() => document.querySelectorAll('details').forEach((details) => (details.open = true)))
      expect(await page.evaluate(() => document.documentElement.scrollWidth)).to.be.at.most(360)
    })
  }

  it('runs nothing that a target answered', async () => {
    await open('report.html')
    expect(await page.title()).to.equal('Not conformant: http://127.0.0.1:3000')
    expect(await page.locator('img').count()).to.equal(0)
    expect(await page.locator('script').count()).to.equal(1)
  })

  it('says verdict and counts', async () => {
    await open('report.html')
    expect(await page.getByRole('heading', { level: 1 }).innerText()).to.contain('Not conformant')
    const required = page.locator('table.counts tr', { hasText: 'required' }).first()
    expect((await required.innerText()).trim().split(/\s+/)).to.deep.equal(['required', '2', '2', '1'])
  })

  it('filters by document, level, status and words', async () => {
    await open('report.html')
    expect(await rows()).to.equal(7)
    await page.getByRole('checkbox', { name: 'relay' }).uncheck()
    expect(await rows()).to.equal(5)
    await page.getByRole('checkbox', { name: 'recommended' }).uncheck()
    expect(await rows()).to.equal(4)
    await page.getByRole('checkbox', { name: 'passed' }).uncheck()
    expect(await rows()).to.equal(3)
    expect(await page.getByRole('status').innerText()).to.equal('3 of 7 clauses shown')
    await page.getByLabel('Words').fill('next page')
    expect(await rows()).to.equal(1)
    await page.getByRole('button', { name: 'Show all (7)' }).click()
    expect(await rows()).to.equal(7)
  })

  it('chooses by presets, each of which shows as many clauses as it says', async () => {
    await open('report.html')
    const presets = page.getByRole('group', { name: 'Presets' }).getByRole('button')
    const names = await presets.allInnerTexts()
    expect(names).to.include('Required failures (2)').and.to.include('Not judged (1)').and.not.include('Passed (0)')
    for (const name of names.toReversed()) {
      await page.getByRole('button', { name, exact: true }).click()
      expect(await rows(), name).to.equal(Number(/\((\d+)\)$/.exec(name)?.[1]))
    }
  })

  it('shows the first failure on the first screen of a phone', async () => {
    await open('report.html', { width: 390 })
    await page.setViewportSize({ width: 390, height: 844 })
    const first = page.locator('.failures li').first()
    const verdict = await page.getByRole('heading', { level: 1 }).boundingBox()
    const told = await first.locator('.message').first().boundingBox()
    expect(told?.y).to.be.greaterThan(verdict?.y ?? Infinity)
    expect((told?.y ?? Infinity) + (told?.height ?? 0)).to.be.below(844)
    for (const part of ['at most 1000 entries', '2500 entries', 'POST /api/eth-rpc', 'no answer within 5000 ms']) {
      expect(await first.innerText()).to.contain(part)
    }
  })

  it('folds every clause and the metadata into a line each', async () => {
    await open('report.html')
    expect(await page.locator('article p:visible').count()).to.equal(0)
    const height = await page.evaluate(() =>
      Math.max(...[...document.querySelectorAll('article')].map((a) => a.clientHeight)),
    )
    expect(height).to.be.below(60)
    const about = page.locator('.about')
    expect(await about.innerText()).to.equal('Edition documents · chain 31337 · with a profile · 2026-01-01 · 4.2 s')
    await about.locator('summary').click()
    expect(await about.innerText())
      .to.contain('HardhatNetwork/3')
      .and.to.contain('key manager 0x22')
  })

  it('says one count of each thing', async () => {
    await open('report.html')
    const text = await page.locator('body').innerText()
    expect(text).to.contain('2 of 5 required clauses failed').and.to.contain('Failures (2 required, 1 recommended)')
    // One cause, three clauses.
    expect(await page.locator('.failures > li').count()).to.equal(1)
    expect(await page.locator('.failures a.id').count()).to.equal(3)
    expect(text).to.contain('1 observation recorded').and.to.contain('Observations, without a verdict (1)')
  })

  for (const width of [390, 1200]) {
    it(`cuts no text off, ${width} px wide`, async () => {
      await open('report.html', { width })
      const cut = await page.evaluate(() => {
        document.querySelectorAll('details').forEach((details) => (details.open = true))
        const isCut = (element: Element) => {
          const { overflowX, textOverflow } = getComputedStyle(element)
          const isHidden = ['hidden', 'clip'].includes(overflowX) || textOverflow === 'ellipsis'
          return (isHidden || element.tagName === 'PRE') && element.scrollWidth > element.clientWidth
        }
        const unnamed = [...document.querySelectorAll('summary, button, legend')].filter(
          (one) => !one.textContent?.trim(),
        )
        return [...[...document.querySelectorAll('body *')].filter(isCut), ...unnamed].map((one) => one.outerHTML)
      })
      expect(cut).to.deep.equal([])
      const labels = await page.locator('.exchange > summary').allInnerTexts()
      for (const label of labels) expect(label).to.match(/^Request \d+: (\w+, )?[A-Z]+ \/\S* → \S/)
      expect(labels.join()).to.contain(': POST /api/eth-rpc → timeout')
    })
  }

  it('lets the keyboard reach a failing clause and read its exchange', async () => {
    await open('report.html')
    const focused = () => page.evaluate(() => document.activeElement?.textContent?.trim() ?? '')
    const press = async (key: string, until: (text: string) => boolean) => {
      for (let presses = 0; presses < 40; presses += 1) {
        await page.keyboard.press(key)
        if (until(await focused())) return
      }
      throw new Error(`${key} does not get there; the focus is on "${await focused()}"`)
    }
    await press('Tab', (text) => text === 'eth-rpc.eth_getLogs.max-1000')
    await page.keyboard.press('Enter')
    await page.waitForFunction(() => document.activeElement?.id === 'eth-rpc.eth_getLogs.max-1000')
    await press('Tab', (text) => /^Request 1: eth_getLogs, POST \/api\/eth-rpc/.test(text))
    const answer = page.locator('article:has([id="eth-rpc.eth_getLogs.max-1000"]) pre', { hasText: 'HTTP 500' })
    expect(await answer.isVisible()).to.equal(false)
    await page.keyboard.press('Enter')
    expect(await answer.isVisible()).to.equal(true)
    expect(await answer.innerText()).to.contain('</script>')
    const command = page.locator('article:has([id="eth-rpc.eth_getLogs.max-1000"]) .exchange[open] details').first()
    await command.locator('summary').click()
    expect(await command.locator('pre').innerText()).to.match(/^curl .*--url 'http:.*"method":"eth_getLogs"/)
  })

  it('shows a clause that a link leads to, though the filters hide it', async () => {
    await open('report.html')
    await page.getByRole('checkbox', { name: 'failed' }).uncheck()
    await page.getByRole('link', { name: 'eth-rpc.eth_getLogs.max-1000' }).first().click()
    const check = page.locator('article summary:visible', { hasText: 'the whole range in one request' })
    await check.first().waitFor({ timeout: 5000 })
    expect(await page.evaluate(() => document.activeElement?.id)).to.equal('eth-rpc.eth_getLogs.max-1000')
  })

  it('has landmarks, and a name for every control', async () => {
    await open('report.html')
    for (const role of ['banner', 'main', 'navigation', 'contentinfo', 'form'] as const) {
      expect(await page.getByRole(role).count(), role).to.equal(1)
    }
    const nameless = await page.evaluate(
      () => [...document.querySelectorAll('input')].filter((input) => !input.labels?.[0]?.textContent?.trim()).length,
    )
    expect(nameless).to.equal(0)
  })

  it('keeps the relays and their verdicts in sight, side by side, while the clauses are scrolled', async () => {
    await open('compare.html')
    await page.setViewportSize({ width: 1200, height: 150 })
    const region = page.getByRole('region', { name: 'Differences', exact: true })
    await region.evaluate((element) => element.scrollTo(0, element.scrollHeight))
    expect(await region.evaluate((element) => element.scrollTop)).to.be.greaterThan(20)
    const head = region.getByRole('columnheader', { name: /two/ })
    const [at, top] = [await head.boundingBox(), await region.boundingBox()]
    expect(at?.y).to.be.closeTo(top?.y ?? -1, 1)
    expect(await head.getByRole('img').getAttribute('aria-label')).to.equal('Not conformant')
  })

  it('filters what stands side by side, and unfolds what it finds', async () => {
    await open('compare.html')
    const shown = () => page.locator('tbody tr:visible').count()
    expect(await shown()).to.equal(2)
    await page.getByLabel('Words').fill('next page')
    expect(await shown()).to.equal(1)
    expect(await page.getByRole('status').innerText()).to.equal('1 of 7 clauses shown')
    await page.getByRole('button', { name: 'Show all (7)' }).click()
    await page.getByRole('button', { name: 'Observations (1)' }).click()
    expect(await page.locator('tbody tr:visible mark').allInnerTexts()).to.deep.equal(['header', 'answer'])
  })

  it('JUnit of the same report is well-formed XML', async () => {
    await open('report.html')
    const parsed = await page.evaluate((xml) => {
      const parsed = new DOMParser().parseFromString(xml, 'application/xml')
      return [parsed.querySelectorAll('parsererror').length, parsed.querySelectorAll('testcase').length]
    }, renderJunit(sampleReport))
    expect(parsed).to.deep.equal([0, 9])
  })
})
