import { expect } from 'chai'
import { ownTurn } from '../../concurrency/own-turn.ts'
import { countingTurns } from '../support/turns.ts'

describe('own turn', () => {
  it('gives each of many who wait a turn of the event loop, in the order in which they came', async () => {
    const order: number[] = []
    const turns = await countingTurns((turn) =>
      Promise.all(
        Array.from({ length: 20 }, async (_, index) => {
          await ownTurn()
          order.push(index)
          return turn()
        }),
      ),
    )
    expect(new Set(turns)).to.have.property('size', 20)
    expect(order).to.deep.equal([...order.keys()])
  })
})
