import { expect } from 'chai'
import { spawnSync } from 'node:child_process'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { startTestbed } from '../../testbed/testbed.ts'

const root = path.join(import.meta.dirname, '../..')
const read = (file: string) => readFileSync(path.join(root, file), 'utf8')
const pages = [
  'README.md',
  'CONTRIBUTING.md',
  ...readdirSync(path.join(root, 'docs')).map((name) => `docs/${name}`),
].filter((file) => file.endsWith('.md'))

describe('the documentation', () => {
  for (const page of pages) {
    it(`${page} links to what is there`, () => {
      for (const [, target = ''] of read(page).matchAll(/\]\(([^)\s]+)\)/g)) {
        if (/^[a-z]+:/.test(target)) continue
        const [file = '', heading] = target.split('#')
        const linked = file === '' ? page : path.join(path.dirname(page), file)
        expect(existsSync(path.join(root, linked)), target).to.equal(true)
        if (heading !== undefined) expect(headingsOf(read(linked)), target).to.include(heading)
      }
    })

    it(`${page} names commands that are there`, () => {
      const { scripts } = JSON.parse(read('package.json')) as { scripts: Record<string, string> }
      for (const [, word = ''] of read(page).matchAll(/npm run (?:--silent )?([a-z-]*[a-z])/g)) {
        expect(scripts, `npm run ${word}`).to.have.property(word)
      }
    })
  }

  it('installs the package from an archive of this version, since it is not on the npm registry', () => {
    const { version } = JSON.parse(read('package.json')) as { version: string }
    const installed = pages.flatMap((page) => {
      const words = [...read(page).matchAll(/npm install ([^`#\n]+)/g)].flatMap(([, names = '']) => names.split(' '))
      return words.map((word) => path.basename(word)).filter((name) => /^touchstone(?!-plugin)/.test(name))
    })
    expect(installed).to.have.length.above(2)
    expect([...new Set(installed)]).to.deep.equal([`touchstone-${version}.tgz`])
  })

  it('tells the way of a call by files that are there', () => {
    const named = [...read('docs/architecture.md').matchAll(/`([a-z-]+\/[^`{}]*)`/g)].map(([, file = '']) => file)
    expect(named).to.have.length.above(30)
    expect(named.filter((file) => !existsSync(path.join(root, file)))).to.deep.equal([])
  })

  it('names for each attack a test that is there', () => {
    const [, tables = ''] = /^## What each attack can reach.*?$(.*?)^## /ms.exec(read('docs/threat-model.md')) ?? []
    const rows = tables.split('\n').filter((line) => /^\| (?!attack|-)/.test(line))
    for (const row of rows) {
      const tests = [...(row.split('|').at(-2) ?? '').matchAll(/`([^`]+)`/g)].map(([, file = '']) => file)
      expect(tests, row).not.to.be.empty
      for (const file of tests) expect(existsSync(path.join(root, file)), file).to.equal(true)
    }
  })

  it('explains every benchmark that there is, and no other', () => {
    const { stdout } = spawnSync(process.execPath, [path.join(root, 'scripts/touchstone.ts'), 'bench', '--help'], {
      encoding: 'utf8',
    })
    const benchmarks = /^Benchmarks: ([^;]+);/m.exec(stdout)?.[1]?.split(', ') ?? []
    const sections = [...read('docs/performance.md').matchAll(/^## (.+)$/gm)].map(([, name]) => name)
    expect(sections).to.have.members(benchmarks)
  })

  it('shows nothing in the dashboard, and alerts on nothing, that the server does not measure', async () => {
    const testbed = await startTestbed()
    try {
      const measured = await (await fetch(`${testbed.relayUrl}/metrics`)).text()
      const names = new Set([...measured.matchAll(/^# TYPE (\w+)/gm)].map(([, name]) => name))
      const texts = read('docs/grafana-dashboard.json') + read('docs/operations.md')
      const used = [...texts.matchAll(/\b(?:touchstone|nodejs|process)_[a-z0-9_]+/g)]
        .map(([name]) => name.replace(/_bucket$/, ''))
        // The schema's name in the database, not a metric.
        .filter((name) => name !== 'touchstone_')
      expect(used).not.to.be.empty
      for (const name of used) expect(names, name).to.include(name)
    } finally {
      await testbed.close()
    }
  })
})

/** The anchors of a page, as GitHub makes them. */
function headingsOf(markdown: string): string[] {
  return [...markdown.matchAll(/^#+ (.+)$/gm)].map(([, title = '']) =>
    title
      .toLowerCase()
      .replace(/[^\w\- ]/g, '')
      .replaceAll(' ', '-'),
  )
}
