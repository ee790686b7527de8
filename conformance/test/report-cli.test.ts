import { expect } from 'chai'
import { copyFile, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { run } from '../report-cli.ts'
import { clauseOf, failed, passed, reportOf, sampleReport } from './support/samples.ts'

describe('report', () => {
  let folder: string
  let one: string
  let two: string

  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'touchstone-report-'))
    one = join(folder, 'one.json')
    two = join(folder, 'two.json')
    await writeFile(one, JSON.stringify(sampleReport))
    await writeFile(two, JSON.stringify(reportOf([clauseOf('eth-rpc.eth_chainId.success', failed)])))
  })

  after(() => rm(folder, { recursive: true }))

  async function report(...argv: string[]) {
    const written = { out: '', err: '' }
    const code = await run(argv, {
      stdout: { write: (text) => (written.out += text) },
      stderr: { write: (text) => (written.err += text) },
    })
    return { code, ...written }
  }

  it('shows one result on the terminal', async () => {
    const { code, out } = await report(one)
    expect(code).to.equal(0)
    expect(out).to.contain('Not conformant: http://127.0.0.1:3000')
  })

  it('writes each format asked for', async () => {
    const paths = ['html', 'junit', 'markdown', 'json'].map(
      (format) => [format, join(folder, `out.${format}`)] as const,
    )
    const { code } = await report(one, ...paths.flatMap(([format, path]) => ['--report', `${format}=${path}`]))
    expect(code).to.equal(0)
    const [html, junit, markdown, json] = await Promise.all(paths.map(([, path]) => readFile(path, 'utf8')))
    expect(html).to.match(/^<!doctype html>/)
    expect(junit).to.match(/^<\?xml/)
    expect(markdown).to.match(/^## /)
    expect(JSON.parse(json ?? '')).to.deep.equal(sampleReport)
  })

  it('writes a site out of a folder of reports', async () => {
    const [reports, site] = [join(folder, 'reports'), join(folder, 'a/site')]
    await mkdir(reports)
    for (const [name, path] of Object.entries({ 'b.json': two, 'a.json': one }))
      await copyFile(path, join(reports, name))
    const { code, out, err } = await report(reports, '--site', site)
    expect({ code, err }).to.deep.equal({ code: 0, err: '' })
    expect(out).to.match(/site\/index\.html and \d+ more pages of 2 reports\n$/)
    expect(await readFile(join(site, 'index.html'), 'utf8')).to.include('http://127.0.0.1:3000')
    const none = join(folder, 'none')
    await mkdir(none)
    expect(await report(none, '--site', site)).to.include({
      code: 2,
      err: `${none} holds no report: a folder of .json files is expected\n`,
    })
    expect((await report(one, '--site', join(one, 'site'))).err).to.include('cannot be written')
  })

  it('writes badges of one result, and of no two', async () => {
    const [svg, shields] = [join(folder, 'badge.svg'), join(folder, 'badge.json')]
    expect((await report(one, '--badge', `svg=${svg}`, '--badge', `shields=${shields}`)).code).to.equal(0)
    expect(await readFile(svg, 'utf8')).to.match(/^<svg /)
    expect(JSON.parse(await readFile(shields, 'utf8'))).to.include({ schemaVersion: 1 })
    const alone = await report(one, '--badge', 'svg=-')
    expect(alone.out).to.match(/^<svg [^]*<\/svg>\n$/)
    for (const args of [
      [one, two, '--badge', 'svg=-'],
      [one, '--badge', 'png=-'],
      [one, '--quiet', '--verbose'],
    ]) {
      const { code, err } = await report(...args)
      expect(code, args.join(' ')).to.equal(2)
      expect(err.trim().split('\n')).to.have.length(1)
    }
  })

  it('shows failures and the verdict alone, or observations too', async () => {
    expect((await report(one, '--quiet')).out)
      .to.include('Not conformant')
      .and.not.include('Could not be tested')
    expect((await report(one, '--verbose')).out).to.include('no header of a rate limit was seen')
  })

  it('puts several side by side, named by file when their targets are the same', async () => {
    const { code, out } = await report(one, two)
    expect(code).to.equal(0)
    expect(out)
      .to.contain(one)
      .and.to.contain(two)
      .and.to.contain('Differences (1)')
      .and.to.contain('Not in all of them (6)')
  })

  it('writes only the format asked for on standard output', async () => {
    const { out } = await report(one, two, '--report', 'markdown=-')
    expect(out).to.match(/^## Touchstone: 2 reports side by side/)
    expect(out).to.match(/<\/details>\n$/)
  })

  const wrong: [string, () => string[]][] = [
    ['no file', () => []],
    ['a file that is not there', () => [join(folder, 'none.json')]],
    ['a file that is no report', () => [join(folder, 'package.json')]],
    ['an unknown format', () => [one, '--report', 'pdf=a.pdf']],
    ['a format that compares nothing', () => [one, two, '--report', 'junit=a.xml']],
    ['a folder that is not there', () => [one, '--report', `html=${join(folder, 'no', 'a.html')}`]],
  ]
  for (const [name, argv] of wrong) {
    it(`ends with 2 and one line for ${name}`, async () => {
      await writeFile(join(folder, 'package.json'), '{"clauses":{}}')
      const { code, err } = await report(...argv())
      expect(code).to.equal(2)
      expect(err.trim()).to.not.equal('').and.not.contain('    at ')
    })
  }

  it('keeps a passing clause apart from one that is missing', async () => {
    const three = join(folder, 'three.json')
    await writeFile(three, JSON.stringify(reportOf([clauseOf('eth-rpc.eth_chainId.success', passed)])))
    expect((await report(two, three)).out).to.contain('Differences (1)')
  })
})
