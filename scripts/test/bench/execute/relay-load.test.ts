import { expect } from 'chai'
import { createLoadNonces } from '../../../bench/execute/relay-load.ts'

describe('createLoadNonces', () => {
  it('gives each call of a load a channel of its own', () => {
    const nonces = createLoadNonces().take({ workers: 3, tasks: 12 })
    expect(nonces.map(({ length }) => length)).to.deep.equal([4, 4, 4])
    expect(new Set(nonces.flat().map(({ channel }) => channel)).size).to.equal(12)
    expect(nonces.flat().every(({ id }) => id === 0n)).to.equal(true)
  })

  it('goes on in the same channels in the next load, whoever takes them', () => {
    const loads = createLoadNonces()
    const first = loads.take({ workers: 2, tasks: 6 }).flat()
    const second = loads.take({ workers: 3, tasks: 6 }).flat()
    const fewer = loads.take({ workers: 1, tasks: 2 }).flat()
    expect(second).to.deep.equal(first.map(({ channel }) => ({ channel, id: 1n })))
    expect(fewer).to.deep.equal(first.slice(0, 2).map(({ channel }) => ({ channel, id: 2n })))
  })
})
