import { expect } from 'chai'
import { indentJson } from '../../../lib/report/indent-json.ts'

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
