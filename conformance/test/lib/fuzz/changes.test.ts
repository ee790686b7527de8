import { expect } from 'chai'
import { assert, property } from 'fast-check'
import { breakages, broken, plainSpelling, spell } from '../../../lib/fuzz/changes.ts'
import { parseLossless } from '../../../lib/lossless-json.ts'

const value = { id: 1, params: ['0x12', 'latest'] }

describe('a broken value', () => {
  it('loses, gains or changes what stands at a place', () => {
    expect(broken(value, [{ at: [0], kind: 'drop', value: null }])).to.deep.equal({ params: ['0x12', 'latest'] })
    expect(broken(value, [{ at: [1, 0], kind: 'replace', value: 5 }])).to.deep.equal({ id: 1, params: [5, 'latest'] })
    expect(broken(value, [{ at: [1, 1], kind: 'drop', value: null }])).to.deep.equal({ id: 1, params: ['0x12'] })
    expect(broken(value, [{ at: [1], kind: 'add', value: 7 }])).to.deep.equal({ ...value, x1: 7 })
    expect(broken(value, [])).to.deep.equal(value)
  })

  it('leaves the whole as it is, and can always be written', async () => {
    const whole = structuredClone(value)
    assert(property(await breakages(), (changes) => void JSON.stringify(broken(value, changes))))
    expect(value).to.deep.equal(whole)
  })
})

const body = { a: 1n << 200n, b: ['x', { c: null, d: 'é"\\💥' }], e: true, f: undefined }
const read = { a: 1n << 200n, b: ['x', { c: null, d: 'é"\\💥' }], e: true }

describe('a spelling', () => {
  it('means the same, in any order, with any white space and any escapes', () => {
    const texts = new Set<string>()
    for (let order = 0; order < 6; order++) {
      for (const space of ['', ' ', '\r\n  ']) {
        for (const escape of [0, 1, 2]) {
          const text = spell(body, { order, space, escape })
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
