import { expect } from 'chai'
import { filterCases } from '../../../lib/eth-rpc/filters.ts'
import type { EmitterLogs } from '../../../lib/eth-rpc/logs.ts'
import { Untestable } from '../../../lib/outcome.ts'

const word = (value: number) => `0x${value.toString(16).padStart(64, '0')}`

function emitter(counts: readonly number[]): EmitterLogs {
  let sequence = 0
  const all = counts.flatMap((count, block) =>
    Array.from({ length: count }, (_, index) => {
      sequence += 1
      return {
        blockNumber: `0x${(block + 5).toString(16)}`,
        blockHash: word(block + 100),
        logIndex: `0x${index.toString(16)}`,
        topics: [word(sequence % 2), word(sequence), word(sequence % 3)],
      }
    }),
  )
  return { emitter: '0xee', fromBlock: 5n, toBlock: BigInt(4 + counts.length), all, densest: 5n }
}

describe('filterCases', () => {
  it('each select something else than all, or say that they select all or nothing', () => {
    const logs = emitter([3, 4])
    const sizes = Object.fromEntries(filterCases.map(({ selects, make }) => [selects, make(logs).truth.length]))
    expect(sizes).to.deep.equal({
      'address: one': 7,
      'address: another, that has no logs': 0,
      'address: many': 7,
      'fromBlock and toBlock: no block beside them': 4,
      'blockHash: that block': 3,
      'topics: an empty list selects all': 7,
      'topics: one value at the first position': 4,
      'topics: alternatives': 2,
      'topics: alternatives at the first position, one of which no log has': 7,
      'topics: a value at the third position, after two that are any': 3,
      'topics: null stands for any value': 1,
      'topics: values at several positions must all match': 1,
      'topics: a value that no log has': 0,
    })
  })

  it('look only where a page is enough', () => {
    const [one] = filterCases
    expect(one?.make(emitter([900, 300, 200])).truth).to.have.lengthOf(500)
  })

  it('do with one block where no two are a page together', () => {
    const sizes = filterCases.map(({ make }) => make(emitter([500, 1100, 900])).truth.length)
    expect(Math.max(...sizes)).to.equal(500)
  })

  it('are untestable without such blocks', () => {
    for (const { make } of filterCases) expect(() => make(emitter([2000]))).to.throw(Untestable)
  })
})
