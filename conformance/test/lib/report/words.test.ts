import { expect } from 'chai'
import { indentJson, shorten, verdictText, verdictTitle, wrap } from '../../../lib/report/words.ts'
import { findCauses, verdictOf } from '../../../lib/verdict.ts'
import { clauseOf, failed, passed, reportOf, untestable } from '../../support/samples.ts'

const known = { id: 'relay.quota.unit', reason: 'soon' } as const
const stale = (count: number) =>
  Array.from({ length: count }, () => ({ id: 'relay.quota.hash', why: 'it is expected to fail and passed' }))

describe('the words for the verdict', () => {
  it('speak of the target: a known failure is one, and a stale entry is none', () => {
    const expected = reportOf([{ ...clauseOf('relay.quota.unit', failed), known }])
    expect(verdictTitle(expected)).to.equal('Not conformant, as expected (1 known failure)')
    const conformant = reportOf([clauseOf('relay.quota.unit', passed)], { staleExpectedFailures: stale(3) })
    expect(verdictTitle(conformant)).to.equal('Conformant; 3 entries are stale')
    const surprised = reportOf([clauseOf('relay.quota.unit', failed)], { staleExpectedFailures: stale(1) })
    expect(verdictTitle(surprised)).to.equal('Not conformant')
    expect(verdictText(surprised)).to.contain('1 of 1 required clause failed, 1 entry is stale')
  })

  it('never take a part for the whole', () => {
    const results = [clauseOf('relay.quota.unit', passed)]
    const part = reportOf(results, {
      verdict: verdictOf(results, true),
      summary: { ...reportOf(results).summary, ofRequired: 55 },
    })
    expect(`${verdictTitle(part)}: ${verdictText(part)}`).to.equal(
      'Passed: 1 of 1 selected required clauses (of 55), at http://127.0.0.1:3000 (4.2 s)',
    )
  })

  it('count the causes', () => {
    const because = { ...untestable, because: 'relay.quota.post' } as const
    const results = [
      clauseOf('relay.quota.post', failed),
      clauseOf('relay.quota.unit', because),
      clauseOf('relay.quota.hash', because),
    ]
    expect(verdictText(reportOf(results, { causes: findCauses(results) }))).to.contain(
      '2 could not be tested, 1 cause, 2 clauses not judged because of it',
    )
  })
})

describe('indentJson', () => {
  it('lays JSON out over lines', () => {
    expect(indentJson('{"a":[1,{"b":"{,}"}],"c":{},"d":[]}')).to.equal(
      '{\n  "a": [\n    1,\n    {\n      "b": "{,}"\n    }\n  ],\n  "c": {},\n  "d": []\n}',
    )
  })

  it('keeps every digit and doubled members', () => {
    const text = indentJson('{"nonce":340282366920938463463374607431768211457,"a":1,"a":1.0e2}')
    expect(text).to.contain('340282366920938463463374607431768211457').and.to.contain('"a": 1,').and.to.contain('1.0e2')
  })

  it('leaves other texts alone', () => {
    expect(indentJson('<html>{"a":1}')).to.equal('<html>{"a":1}')
  })
})

describe('shorten', () => {
  it('keeps what fits', () => {
    expect(shorten('12345678', 8)).to.equal('12345678')
  })

  it('keeps head and tail and says what is left out', () => {
    expect(shorten(`${'a'.repeat(50)}${'b'.repeat(50)}`, 8)).to.equal('aaaaaa … 92 characters left out … bb')
  })
})

describe('wrap', () => {
  it('breaks at spaces within the width and indents each line', () => {
    expect(wrap('one two six\nfour', 9, '  ')).to.equal('  one two\n  six\n  four')
  })

  it('leaves a word that is too long whole', () => {
    expect(wrap('a 0x1234567890 b', 6, '')).to.equal('a\n0x1234567890\nb')
    expect(wrap('0x1234567890 b', 6, '')).to.equal('0x1234567890\nb')
  })
})
