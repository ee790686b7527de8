import { expect } from 'chai'
import { clauses, type ClauseId } from '../../specs/index.ts'
import { clientClauses } from '../clients/judge.ts'
import { isSelected, loadSuites } from '../lib/suites.ts'

describe('the catalogue of checks', () => {
  it('has checks, or a reason, for every clause, and no checks beside', async () => {
    const suites = [...(await loadSuites()), ...clientClauses.map(({ id }) => ({ id, checks: [id] }))]
    const checked = suites.filter(({ checks }) => checks.length > 0).map(({ id }) => id)
    const untested = (Object.keys(clauses) as ClauseId[]).filter((id) => clauses[id].untested !== undefined)
    expect([...checked, ...untested].sort()).to.deep.equal(Object.keys(clauses).sort())
  })

  it('names each check of a clause once', async () => {
    for (const { id, checks } of await loadSuites()) {
      const titles = checks.map(({ title }) => title)
      expect(new Set(titles).size, id).to.equal(titles.length)
    }
  })

  it('selects by id and by prefix', () => {
    expect(isSelected('relay.quota.hash', null)).to.equal(true)
    expect(isSelected('relay.quota.hash', 'relay.quota')).to.equal(true)
    expect(isSelected('relay.quota.hash', 'relay.quota.*')).to.equal(true)
    expect(isSelected('relay.execute.post', 'relay.quota')).to.equal(false)
  })
})
