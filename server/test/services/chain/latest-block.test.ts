import { expect } from 'chai'
import { readLatestBlock } from '../../../services/chain/latest-block.ts'
import type { Upstream } from '../../../services/node/upstream.ts'

const SECONDS = 1_800_000_000

describe('readLatestBlock', () => {
  const withTimestamp = (seconds: number): Pick<Upstream, 'request'> => ({
    request: async <Result>(...question: readonly unknown[]) => {
      expect(question.slice(0, 2)).to.deep.equal(['eth_getBlockByNumber', ['latest', false]])
      return { number: '0x10', timestamp: `0x${seconds.toString(16)}` } as Result
    },
  })

  it('tells the number and the age of the block', async () => {
    const block = await readLatestBlock(withTimestamp(SECONDS - 5), SECONDS * 1000 + 999)
    expect(block).to.deep.equal({ number: 16n, ageSeconds: 5 })
  })

  it('gives no age below zero to a block whose time has not come', async () => {
    expect((await readLatestBlock(withTimestamp(SECONDS + 3_600), SECONDS * 1000)).ageSeconds).to.equal(0)
  })
})
