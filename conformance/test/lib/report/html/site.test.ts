import { expect } from 'chai'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join, posix } from 'node:path'
import { pathToFileURL } from 'node:url'
import { axeViolations, launchBrowser, type Browser } from '../../../../../testbed/test/support/browser.ts'
import { renderSite } from '../../../../lib/report/html/site.ts'
import { clauseOf, failed, observed, passed, reportOf, untestable } from '../../../support/samples.ts'

const target = (host: string) => ({ target: { relayUrl: `https://${host}`, ethRpcUrl: `https://${host}` } })
const chainId = 'eth-rpc.eth_chainId.success'
const paging = 'eth-rpc.eth_getLogs.next-page'
const codes = 'eth-rpc.response.error-codes'

/** A relay that has become worse in two clauses and better in one, and a relay with one run. */
const reports = [
  reportOf([clauseOf(chainId, failed), clauseOf(paging, untestable), clauseOf(codes, failed)], {
    ...target('one.example'),
    startedAt: '2026-02-01T00:00:00.000Z',
  }),
  reportOf(
    [
      clauseOf(chainId, passed),
      clauseOf(paging, failed),
      clauseOf(codes, passed),
      clauseOf('eth-rpc.limits.rate', observed),
    ],
    {
      ...target('one.example'),
      startedAt: '2026-01-01T00:00:00.000Z',
    },
  ),
  reportOf([clauseOf(chainId, passed), clauseOf(paging, passed)], target('two.example')),
]

const site = renderSite(reports)
const textOf = (path: string) => (site.get(path) ?? '').replace(/<style>.*?<\/style>/gs, '').replace(/<[^>]+>/g, ' ')
const pathOf = (start: string) => [...site.keys()].find((path) => path.startsWith(start)) ?? 'none'

describe('renderSite', () => {
  it('tells on its first page the verdict of each relay, and what changed since the run before', () => {
    const text = textOf('index.html')
    expect(text).to.match(/one\.example \(documents\)\s+Not conformant.*2026-02-01\s+2 worse, 1 better/s)
    expect(text).to.match(/two\.example \(documents\)\s+Conformant.*2026-01-01\s+first run/s)
  })

  it('tells on the page of a relay its runs, the latest first, and each change', () => {
    const text = textOf(pathOf('relays/one-example'))
    expect(text).to.match(/eth_chainId\.\s*success\s+required\s+✓ passed\s+✗ failed/)
    expect(text).to.match(/eth_getLogs\.\s*next-\s*page\s+required\s+✗ failed\s+\? untestable/)
    expect(text.indexOf('2026-02-01')).to.be.below(text.indexOf('2026-01-01'))
    expect(textOf(pathOf('relays/two-example'))).to.include('There is no run before.')
  })

  it('tells since when a clause fails, the longest first, over runs that did not check it', () => {
    const dated = (day: number, ...clauses: Parameters<typeof reportOf>[0]) =>
      reportOf(clauses, { ...target('old.example'), startedAt: `2026-03-0${day}T00:00:00.000Z` })
    const pages = renderSite([
      dated(1, clauseOf(chainId, failed), clauseOf(paging, passed), clauseOf(codes, failed)),
      dated(2, clauseOf(chainId, failed), clauseOf(paging, failed), clauseOf(codes, passed)),
      dated(3, clauseOf(paging, failed), clauseOf(codes, passed)),
      dated(4, clauseOf(chainId, failed), clauseOf(paging, failed), clauseOf(codes, failed)),
    ])
    const page = [...pages].find(([path]) => path.startsWith('relays/'))?.[1] ?? ''
    const [, table = ''] = /aria-label="Failures, a table">(.*?)<\/table>/s.exec(page) ?? []
    const rows = [...table.matchAll(/clauses\/([\w.-]+)\.html.*?>(2026-[\d-]+)<\/a>([^<]*)/gs)].map((row) =>
      row.slice(1),
    )
    expect(rows).to.deep.equal([
      [chainId, '2026-03-01', ', the first run'],
      [paging, '2026-03-02', ''],
      [codes, '2026-03-04', ''],
    ])
  })

  it('tells on the page of a clause what it says of each relay, and why', () => {
    const text = textOf(`clauses/${chainId}.html`)
    expect(text).to.match(/one\.example \(documents\)\s+✗ failed\s+the answer holds 2500 entries/)
    expect(text).to.match(/two\.example \(documents\)\s+✓ passed/)
  })

  it('holds apart targets whose names look alike, and editions', () => {
    const others = ['https://a-b.example', 'https://a.b.example'].map((relayUrl) =>
      reportOf([clauseOf(chainId, passed)], { target: { relayUrl, ethRpcUrl: relayUrl } }),
    )
    const [first] = others
    const lip = { ...first!, suite: { ...first!.suite, edition: 'lip' as const } }
    const paths = [...renderSite([...others, lip]).keys()].filter((path) => path.startsWith('relays/'))
    expect(paths).to.have.length(3)
  })

  it('has no link that leads nowhere, and names no other host', () => {
    for (const [path, html] of site) {
      for (const [, href = ''] of html.matchAll(/href="([^"]*)"/g)) {
        const [file = '', anchor] = href.split('#')
        if (href === 'data:,') continue
        const linked = file === '' ? path : posix.join(posix.dirname(path), file)
        expect(site.has(linked), `${path}: ${href}`).to.equal(true)
        if (anchor !== undefined) expect(site.get(linked), `${path}: ${href}`).to.include(`id="${anchor}"`)
      }
      expect(html, path).to.not.match(/<(?:script|img|link)[^>]*\ssrc="http/)
    }
  })

  describe('in a browser', function () {
    let browser: Browser
    let folder: string
    before(async function () {
      browser = await launchBrowser(this)
      folder = await mkdtemp(join(tmpdir(), 'touchstone-site-'))
      for (const [path, html] of site) {
        await mkdir(dirname(join(folder, path)), { recursive: true })
        await writeFile(join(folder, path), html)
      }
    })
    after(async () => {
      await browser?.close()
      if (folder) await rm(folder, { recursive: true, force: true })
    })

    it('leads from the first page to a relay, a clause and a report, from files and without a fault that axe knows', async () => {
      const page = await browser.context.newPage()
      const problems: string[] = []
      page.on('console', (message) => problems.push(message.text()))
      page.on('request', (request) => request.url().startsWith('file:') || problems.push(request.url()))
      await page.goto(pathToFileURL(join(folder, 'index.html')).href)
      expect(await axeViolations(page)).to.deep.equal([])
      const clauses = page.getByRole('region', { name: 'Clauses, a table' })
      await page.getByRole('button', { name: /^All failures/ }).click()
      expect(await clauses.locator('tbody tr:visible').count()).to.equal(2)
      await page.getByRole('link', { name: 'All side by side' }).click()
      await page.getByRole('link', { name: chainId }).first().click()
      expect(await page.getByRole('heading', { level: 1 }).textContent()).to.equal(chainId)
      await page.goto(pathToFileURL(join(folder, 'index.html')).href)
      await page.getByRole('link', { name: /one\.example/ }).click()
      expect(await axeViolations(page)).to.deep.equal([])
      await page.setViewportSize({ width: 390, height: 844 })
      expect(await page.evaluate('document.documentElement.scrollWidth')).to.equal(390)
      await page.getByRole('region', { name: 'Changes, a table' }).getByRole('link').first().click()
      expect(await page.getByRole('heading', { level: 1 }).textContent()).to.equal(chainId)
      expect(await axeViolations(page)).to.deep.equal([])
      await page.getByRole('link', { name: /one\.example/ }).click()
      expect(await page.getByRole('heading', { level: 1 }).textContent()).to.include('Not conformant')
      expect(problems.filter((problem) => !problem.startsWith('data:'))).to.deep.equal([])
    })
  })
})
