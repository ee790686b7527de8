import { readFileSync } from 'node:fs'
import { expect } from 'chai'
import { clauses, schemas, type Clause } from '../index.ts'

const rows: [string, Clause][] = Object.entries(clauses)
const documents = ['eth-rpc', 'relay'] as const
/** The methods that the document lists; the server may have more, which then have no clause. */
const methods = [
  'eth_blockNumber',
  'eth_chainId',
  'eth_gasPrice',
  'eth_getBalance',
  'eth_getLogs',
  'eth_getTransactionByHash',
  'eth_getTransactionReceipt',
  'eth_maxPriorityFeePerGas',
]

describe('clauses', () => {
  it('hold every sentence of both documents that binds a service', () => {
    const required = rows.filter(([, { level }]) => level === 'required').map(([, { document }]) => document)
    expect(documents.map((name) => required.filter((document) => document === name).length)).to.deep.equal([22, 33])
  })

  it('have ids that no file repeats', () => {
    // JSON.parse keeps the last of two rows with one id and says nothing.
    for (const document of documents) {
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
      expect(row.section).to.match(/^[1-9](?:\.\d)?(?:, [1-9](?:\.\d)?)*$/)
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
