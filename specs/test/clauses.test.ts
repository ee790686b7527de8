import { readFileSync } from 'node:fs'
import { expect } from 'chai'
import { clauses, schemas, type Clause } from '../index.ts'

const rows: [string, Clause][] = Object.entries(clauses)
const documents = ['eth-rpc', 'relay'] as const
/** `client` holds what both documents say of their callers. */
const catalogues = [...documents, 'client'] as const
/** The methods that the document lists: something is required of them. The server may have more. */
const methods = new Set(
  rows.flatMap(([id, { level }]) => (level === 'required' ? (/^eth-rpc\.(eth_\w+)\./.exec(id)?.[1] ?? []) : [])),
)

describe('clauses', () => {
  for (const document of documents) {
    it(`pass over no numbered rule of the document ${document}, and require something of a service`, () => {
      const own = rows.filter(([, row]) => row.document === document)
      expect(own.filter(([, { level }]) => level === 'required')).to.not.be.empty
      const rules = new Set(own.flatMap(([, { section }]) => section.split(', ')))
      for (const rule of rules) {
        const [section, number] = rule.split('.')
        if (number === undefined || number === '1') continue
        expect(rules, `the rule before ${rule}`).to.include(`${section}.${Number(number) - 1}`)
      }
    })
  }

  it('require of a client what a rule of a document says', () => {
    const own = rows.filter(([, row]) => row.document === 'client')
    expect(own.filter(([, { level }]) => level === 'required')).to.not.be.empty
    for (const [id, { section }] of own) {
      const [, document, rules = ''] = /^(\S+) (.*)$/.exec(section) ?? []
      const known = rows.flatMap(([, row]) => (row.document === document ? row.section.split(', ') : []))
      for (const rule of rules.split(', ')) expect(known, id).to.include(rule)
    }
  })

  it('have ids that no file repeats', () => {
    // JSON.parse keeps the last of two rows with one id and says nothing.
    for (const document of catalogues) {
      const text = readFileSync(new URL(`../clauses/${document}.json`, import.meta.url), 'utf8')
      const written = [...text.matchAll(/^ {2}"([^"]+)": \{/gm)].map(([, id]) => id)
      const loaded = rows.filter(([, row]) => row.document === document).map(([id]) => id)
      expect(written).to.deep.equal(loaded)
    }
  })

  for (const [id, row] of rows) {
    it(`${id} is well-formed`, () => {
      expect(id.startsWith(`${row.document}.`), 'the id names the document').to.be.true
      expect(id).to.match(/^[a-z-]+(?:\.[A-Za-z0-9_-]+)+$/)
      expect(row.level).to.be.oneOf(['required', 'recommended', 'unspecified'])
      expect(row.section).to.match(row.document === 'client' ? /^(?:relay|eth-rpc) [1-9]/ : /^[1-9]/)
      expect(row.section.replace(/^[a-z-]+ /, '')).to.match(/^[1-9](?:\.\d)?(?:, [1-9](?:\.\d)?)*$/)
      expect(row.text.includes('?'), 'asks if and only if unspecified').to.equal(row.level === 'unspecified')
      expect(row.text).to.match(/^\S.*[.?)]$/)
      for (const need of [...row.needs, ...(row.needsForValue ?? [])]) {
        expect(need).to.be.oneOf(['chain', 'fixture', 'spend', 'clock', 'fuzz'])
      }
      expect(row).to.have.all.keys(
        ['document', 'level', 'section', 'text', 'needs'].concat(
          ['needsForValue', 'editions', 'untested'].filter((optional) => optional in row),
        ),
      )
    })
  }

  it('cover success, result and bad parameters of every method, and each has its schema', () => {
    expect(methods).to.not.be.empty
    for (const method of methods) {
      expect(schemas).to.have.property(`rpc-method/${method}`)
      for (const part of ['success', 'result-schema', 'bad-params']) {
        expect(clauses).to.have.property(`eth-rpc.${method}.${part}`)
      }
    }
  })

  it('differ by edition in the window of the quota', () => {
    expect(clauses['relay.quota.window'].text).to.include('5 seconds')
    expect(clauses['relay.quota.window'].editions?.lip).to.include('300 seconds')
  })
})
