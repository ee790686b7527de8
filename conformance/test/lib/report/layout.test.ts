import { expect } from 'chai'
import { indentJson, shorten, wrap } from '../../../lib/report/layout.ts'

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
