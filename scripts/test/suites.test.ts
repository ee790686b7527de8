import { expect } from 'chai'
import { cp, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { check, exitCodeOf, type LoadedSuite, loadSuitesOf } from '../../conformance/index.ts'
import type { Report } from '../../conformance/lib/report-types.ts'
import { renderHtml } from '../../conformance/lib/report/html/report.ts'
import { renderJunit } from '../../conformance/lib/report/ci.ts'
import { renderMarkdown } from '../../conformance/lib/report/markdown.ts'
import { startTestbed, type Testbed } from '../../testbed/testbed.ts'
import { runIn } from './support/repository-copy.ts'

const root = join(import.meta.dirname, '../..')
const name = 'touchstone-plugin-example'
const named = ['--suite', `${name}/suite`]

describe('suites of others', () => {
  let folder: string

  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'touchstone-suites-'))
    const touchstone = join(folder, 'node_modules/touchstone')
    await mkdir(touchstone, { recursive: true })
    await cp(join(root, 'server/test/fixtures', name), join(folder, 'node_modules', name), { recursive: true })
    // The sources, under the package's name.
    const files = {
      'package.json': '{"name":"touchstone","exports":{"./plugin":"./plugin.js","./suite":"./suite.js"}}',
      'plugin.js': `export * from '${root}/server/plugin-api.ts'\n`,
      'suite.js': `export * from '${root}/conformance/suite.ts'\n`,
    }
    for (const [file, text] of Object.entries(files)) await writeFile(join(touchstone, file), text)
  })
  after(() => rm(folder, { recursive: true, force: true }))

  const touchstone = (...args: string[]) =>
    runIn(folder, process.execPath, [join(root, 'scripts/touchstone.ts'), ...args])

  /** Loads a suite from the text of its module. */
  let count = 0
  async function load(text: string): Promise<LoadedSuite> {
    const file = `./suite-${count++}.js`
    await writeFile(join(folder, file), text)
    const [loaded] = await loadSuitesOf([file], folder)
    if (!loaded) throw new Error('nothing was loaded')
    return loaded
  }

  describe('of a package', () => {
    const report = () => join(folder, 'report.json')

    it('judge its plugins on a testbed that has them', async () => {
      const outputs = ['--report', 'json=report.json', '--record']
      const { code, stdout, stderr } = await touchstone('check', ...named, '--only', 'example', ...outputs)
      expect(code, stdout + stderr).to.equal(0)
      expect(stdout).to.include('example: 3 of 3 required clauses passed; no part of the verdict')
      const { clauses, suites } = JSON.parse(await readFile(report(), 'utf8')) as Report
      expect(clauses).to.deep.equal([])
      expect(suites?.map(({ prefix, source, version }) => [prefix, source, version])).to.deep.equal([
        ['example', `${name}/suite`, '1.0.0'],
      ])
    })

    it('are needed to judge the record again', async () => {
      const alone = await touchstone('rejudge', 'report.json')
      expect(alone.code).to.equal(2)
      expect(alone.stderr).to.match(/^touchstone rejudge: .* suite example: name it with --suite \S+\n$/)
      const { code, stdout } = await touchstone('rejudge', 'report.json', ...named)
      expect(code, stdout).to.equal(0)
      expect(stdout).to.include('The same: partial, 4 clauses')
    })

    it('are proved by their mutants and lawful servers', async () => {
      const { code, stdout, stderr } = await touchstone('prove', ...named, '--out', join(folder, 'prove.json'))
      expect(code, stdout + stderr).to.equal(0)
      expect(stdout).to.include('3 of 3 mutants caught by their clause, 1 of 1 lawful servers spared')
    })

    it('are not proved while no mutant breaks a clause', async () => {
      const file = join(folder, 'unproved.js')
      await writeFile(
        file,
        `import { clause, defineSuite, expect } from 'touchstone/suite'
        export default defineSuite({
          prefix: 'bare', title: 'Bare',
          clauses: { 'bare.chain': { level: 'required', section: '1', text: 'There is a chain.', needs: [] } },
          checks: [clause('bare.chain', (check) => {
            check('has an id', async (t) => expect(await t.rpc.call('eth_chainId')).to.be.served)
          })],
        })`,
      )
      const { code, stdout } = await touchstone('prove', '--suite', file, '--out', join(folder, 'prove.json'))
      expect(code, stdout).to.equal(1)
      expect(stdout).to.include('✗ bare.chain: no mutant breaks it')
    })
  })

  describe('beside the documents', () => {
    let testbed: Testbed
    const only = 'relay.quota.unit,relay.quota.post'

    before(async () => {
      testbed = await startTestbed()
    })
    after(() => testbed.close())

    const suiteWith = (body: string) => `
      import { clause, defineSuite, expect, Fault } from 'touchstone/suite'
      export default defineSuite({
        prefix: 'acme', title: 'Acme',
        clauses: { 'acme.one': { level: 'required', section: '1', text: 'A <b>sentence</b>.', needs: [] } },
        checks: [clause('acme.one', (check) => check('a check', async (t) => { ${body} }))],
      })`
    const checkWith = async (body: string, options: object = {}) =>
      check({
        relayUrl: testbed.relayUrl,
        fixture: testbed.fixture,
        only: `${only},acme`,
        suites: [await load(suiteWith(body))],
        ...options,
      })

    it('fail without a word to the verdict, in a part of their own, and the exit code counts them', async () => {
      const report = await checkWith(`expect(await t.rpc.call('acme_ping')).to.be.served`)
      expect(report).to.include({ verdict: 'passed' })
      expect(report.clauses.map(({ id, status }) => [id, status])).to.deep.equal(
        only
          .split(',')
          .toReversed()
          .map((id) => [id, 'passed']),
      )
      expect(report.summary.required).to.deep.equal({ passed: 2, failed: 0, untestable: 0 })
      expect(report.suites?.[0]).to.deep.include({ prefix: 'acme', title: 'Acme', source: './suite-0.js' })
      expect(report.suites?.[0]?.summary.required).to.deep.equal({ passed: 0, failed: 1, untestable: 0 })
      expect(exitCodeOf(report)).to.equal(1)
      expect(renderJunit(report)).to.match(/<testsuite name="acme"[^>]* failures="1"/)
      expect(renderMarkdown(report)).to.include('## acme: Acme (./suite-0.js)')
      expect(renderHtml(report)).to.include('A &lt;b&gt;sentence&lt;/b&gt;.').and.include('<h2 id="suite-acme"')
    })

    it('speak against no sentence of the documents', async () => {
      const report = await checkWith(`
        t.accuse(new Fault('wrong', { of: 'relay.quota.unit' }))
        throw new Fault('worse', { of: 'relay.quota.post' })`)
      expect(report).to.include({ verdict: 'passed' })
      const [clause] = report.suites?.[0]?.clauses ?? []
      expect(clause?.tests).to.have.length(1)
      expect(clause?.tests[0]).to.include({ status: 'untestable', because: 'relay.quota.post' })
      expect(exitCodeOf(report)).to.equal(3)
    })

    it('accuse nobody of their own faults', async () => {
      const report = await checkWith(`t.nothing.there()`)
      expect(report.suites?.[0]?.clauses[0]?.tests[0]?.reason).to.match(/^a fault of the suite itself/)
    })

    it('end, though a check does not', async () => {
      const report = await checkWith(`await new Promise(() => {})`, { receiptTimeoutMs: 30, rateLimitTimeoutMs: 30 })
      expect(report.suites?.[0]?.clauses[0]?.tests[0]).to.include({ status: 'untestable' })
      expect(report.suites?.[0]?.clauses[0]?.tests[0]?.reason).to.match(/^the check did not end within/)
    })

    it('can be expected to fail', async () => {
      const expectedFailures = [{ id: 'acme.one', reason: 'known' }]
      const report = await checkWith(`expect(1).to.equal(2)`, { expectedFailures })
      expect(report.staleExpectedFailures).to.deep.equal([])
      expect(exitCodeOf(report)).to.equal(0)
    })

    it('ask any path of the relay', async () => {
      const report = await checkWith(`
        const answer = await t.at('/healthz').sendRaw(undefined, { method: 'GET' })
        expect(answer.status).to.equal(200)`)
      expect(report.suites?.[0]?.clauses[0]?.status).to.equal('passed')
    })
  })

  describe('that are broken', () => {
    const good = {
      kind: "'suite'",
      prefix: "'acme'",
      title: "'Acme'",
      clauses: "{ 'acme.one': { level: 'required', section: '1', text: 'A sentence.', needs: [] } }",
      checks: "[{ id: 'acme.one', checks: [{ title: 'a', body() {} }] }]",
    }
    const cases: readonly (readonly [change: Readonly<Record<string, string>>, field: string])[] = [
      [{ kind: "'other'" }, 'default'],
      [{ prefix: "'relay'" }, 'prefix'],
      [{ prefix: "'other'" }, 'clauses/acme.one'],
      [{ title: '1' }, 'title'],
      [{ clauses: '{}' }, 'clauses'],
      [{ clauses: "{ 'acme.one': { level: 'must', section: '1', text: 'A.', needs: [] } }" }, 'clauses/acme.one/level'],
      [{ checks: '[]' }, 'clauses/acme.one'],
      [{ checks: "[{ id: 'acme.one', checks: [{ title: 'a', body: 1 }] }]" }, 'checks/0/checks/0/body'],
      [{ mutants: "[{ clause: 'acme.two', fault: 'none' }]" }, 'mutants/0/clause'],
      [{ lawful: "[{ id: 'a', clauses: ['acme.two'], allowedBy: 'all' }]" }, 'lawful/0/clauses'],
    ]

    for (const [change, field] of cases) {
      it(`are told by file and field: ${Object.entries(change).join()}`, async () => {
        const members = Object.entries({ ...good, ...change }).map(([member, value]) => `${member}: ${value}`)
        const error: unknown = await load(`export default { ${members.join()} }`).catch((thrown: unknown) => thrown)
        expect(error).to.have.property('name', 'UsageError')
        expect((error as Error).message).to.match(new RegExp(`^suite \\./suite-\\d+\\.js: ${field}: [^\\n]+$`))
      })
    }

    it('end the command before anything is sent', async () => {
      const { code, stderr } = await touchstone('check', 'http://127.0.0.1:9', '--suite', './none.js')
      expect(code).to.equal(2)
      expect(stderr).to.match(/^touchstone check: suite \.\/none\.js: cannot be imported: .*\n$/)
    })

    it('do not share a prefix', async () => {
      const text = `export default { ${Object.entries(good)
        .map((member) => member.join(': '))
        .join()} }`
      await writeFile(join(folder, 'a.js'), text)
      await writeFile(join(folder, 'b.js'), text)
      const error: unknown = await loadSuitesOf(['./a.js', './b.js'], folder).catch((thrown: unknown) => thrown)
      expect((error as Error).message).to.equal("suite ./b.js: prefix: 'acme' is already taken by ./a.js")
    })
  })
})
