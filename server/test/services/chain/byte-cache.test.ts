import { expect } from 'chai'
import { ByteCache } from '../../../services/chain/byte-cache.ts'

describe('ByteCache', () => {
  const filled = () => {
    const cache = new ByteCache<number>(30)
    for (const [index, key] of ['a', 'b', 'c'].entries()) cache.set(key, index, 10)
    return cache
  }
  const kept = (cache: ByteCache<number>) => ['a', 'b', 'c', 'd'].filter((key) => cache.get(key) !== undefined)

  it('drops what was not used for the longest time', () => {
    const cache = filled()
    cache.get('a')
    cache.set('d', 3, 10)
    expect(kept(cache)).to.deep.equal(['a', 'c', 'd'])
    expect(cache.bytes).to.equal(30)
  })

  it('drops as many as are needed', () => {
    const cache = filled()
    cache.set('d', 3, 20)
    expect(kept(cache)).to.deep.equal(['c', 'd'])
  })

  it('keeps nothing that is larger than the budget, and drops nothing for it', () => {
    const cache = filled()
    cache.set('d', 3, 31)
    expect(kept(cache)).to.deep.equal(['a', 'b', 'c'])
  })

  it('counts a value that is set again, deleted or cleared once', () => {
    const cache = filled()
    cache.set('a', 9, 5)
    expect([cache.get('a'), cache.bytes]).to.deep.equal([9, 25])
    cache.delete('a')
    cache.delete('a')
    expect(cache.bytes).to.equal(20)
    cache.clear()
    expect([cache.bytes, kept(cache)]).to.deep.equal([0, []])
  })
})
