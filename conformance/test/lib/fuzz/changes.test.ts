import { expect } from 'chai'
import { assert, property } from 'fast-check'
import { breakages, broken } from '../../../lib/fuzz/changes.ts'

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
