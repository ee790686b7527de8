import { expect } from 'chai'
import { createSlices } from '../../concurrency/slices.ts'
import { countingTurns } from '../support/turns.ts'

/** Takes 30 steps of 2 ms, ten from each of three sides, and returns how many there were in each turn of the event loop. */
async function stepsByTurn(sliceMs: number): Promise<number[]> {
  const inSlice = createSlices(sliceMs)
  const byTurn = new Map<number, number>()
  await countingTurns((turn) => {
    const step = async () => {
      byTurn.set(turn(), (byTurn.get(turn()) ?? 0) + 1)
      for (const beganMs = performance.now(); performance.now() - beganMs < 2;);
    }
    const side = async () => {
      for (let count = 0; count < 10; count++) await inSlice(step)
    }
    return Promise.all([side(), side(), side()])
  })
  return [...byTurn.values()]
}

describe('slices of the event loop', () => {
  it('end the turn when the steps of all sides together have had their time', async () => {
    const steps = await stepsByTurn(5)
    expect(Math.max(...steps)).to.be.at.most(3)
    expect(steps.reduce((sum, each) => sum + each)).to.equal(30)
  })

  it('keep no step waiting that has time left', async () => {
    expect(await stepsByTurn(60_000)).to.deep.equal([30])
  })

  it('settle as the step does', async () => {
    const inSlice = createSlices(5)
    expect(await inSlice(() => Promise.resolve('done'))).to.equal('done')
    const thrown = await inSlice(() => Promise.reject(new Error('failed'))).catch((error: unknown) => error)
    expect(thrown).to.be.an('error').with.property('message', 'failed')
  })
})
