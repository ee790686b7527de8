import { expect } from 'chai'
import { divide } from '../../ethereum/bigint.ts'

describe('divide', () => {
  for (const [amount, weights, parts] of [
    [10n, [1n, 1n, 2n], [2n, 3n, 5n]],
    [10n, [0n, 3n], [0n, 10n]],
    [0n, [1n, 1n], [0n, 0n]],
    [3n, [0n, 0n], [1n, 2n]],
    [3n, [], []],
  ] as const) {
    it(`gives ${amount} to ${weights.join(', ') || 'nobody'} as ${parts.join(', ') || 'nothing'}`, () => {
      expect(divide(amount, weights)).to.deep.equal(parts)
    })
  }
})
