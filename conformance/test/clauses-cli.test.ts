import { expect } from 'chai'
import { clauses } from '../../specs/index.ts'
import { explainClause } from '../clauses-cli.ts'

describe('explainClause', () => {
  it('tells the sentence, the checks, and servers that fail and pass', async () => {
    const text = await explainClause('relay.quota.unit')
    for (const part of ['required, section 2', 'unit is one of three', 'unit is none of the three', 'counts-lyx']) {
      expect(text).to.include(part)
    }
    expect(text).to.include('--only relay.quota.unit')
  })

  it('explains every clause', async () => {
    for (const id of Object.keys(clauses)) {
      expect(await explainClause(id), id).to.match(/How it is checked|No check:/)
    }
  })

  it('names clauses that are alike when there is none of the name', async () => {
    const refusalOf = (name: string) => explainClause(name).catch((error: Error) => error.message)
    expect(await refusalOf('relay.quota.uni')).to.include('there are relay.quota.unit')
    expect(await refusalOf('relay.quta.unit')).to.include('; did you mean relay.quota.unit?')
    expect(await refusalOf('nothing')).to.equal("explain: no clause and no file is named 'nothing'")
  })
})
