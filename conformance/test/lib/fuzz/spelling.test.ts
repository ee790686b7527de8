import { expect } from 'chai'
import { plainSpelling, spell } from '../../../lib/fuzz/spelling.ts'
import { parseLossless } from '../../../lib/lossless-json.ts'

const value = { a: 1n << 200n, b: ['x', { c: null, d: 'é"\\💥' }], e: true, f: undefined }
const read = { a: 1n << 200n, b: ['x', { c: null, d: 'é"\\💥' }], e: true }

describe('a spelling', () => {
  it('means the same, in any order, with any white space and any escapes', () => {
    const texts = new Set<string>()
    for (let order = 0; order < 6; order++) {
      for (const space of ['', ' ', '\r\n  ']) {
        for (const escape of [0, 1, 2]) {
          const text = spell(value, { order, space, escape })
          expect(parseLossless(text), text).to.deep.equal(read)
          texts.add(text)
        }
      }
    }
    expect(texts.size).to.equal(6 * 3 * 3)
  })

  it('is plain where nothing is asked for', () => {
    expect(spell({ a: 1, b: ['x'] }, plainSpelling)).to.equal('{"a":1,"b":["x"]}')
  })
})
