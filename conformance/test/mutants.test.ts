import { expect } from 'chai'
import { clauses, type ClauseId } from '../../specs/index.ts'
import { loadMutants } from '../mutants/load.ts'

describe('the mutants', () => {
  it('break every clause that has a verdict', async () => {
    const broken = new Set((await loadMutants()).map(({ mutant }) => mutant.clause))
    const judged = (Object.keys(clauses) as ClauseId[]).filter(
      (id) => clauses[id].level !== 'unspecified' && clauses[id].untested === undefined,
    )
    expect(judged.filter((id) => !broken.has(id))).to.deep.equal([])
  })

  it('are named after the clause that must catch them, and say what is broken', async () => {
    for (const { name, mutant } of await loadMutants()) {
      expect([mutant.clause, `${mutant.clause}--${name.slice(mutant.clause.length + 2)}`]).to.include(name)
      expect(mutant.fault, name).to.match(/^\S.{8,}[^.]$/)
      expect(mutant.execute ?? mutant.quota ?? mutant.rpc, name).to.be.a('function')
    }
  })

  it('break it in different words', async () => {
    const faults = (await loadMutants()).map(({ mutant }) => `${mutant.clause}: ${mutant.fault}`)
    expect(new Set(faults).size).to.equal(faults.length)
  })
})
