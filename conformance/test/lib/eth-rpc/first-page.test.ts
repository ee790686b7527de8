import { expect } from 'chai'
import { compareFirstPage } from '../../../lib/eth-rpc/first-page.ts'
import type { KnownFilter } from '../../../lib/eth-rpc/filters.ts'
import type { Log } from '../../../lib/eth-rpc/logs.ts'
import { Fault } from '../../../lib/outcome.ts'
import { answered } from '../../support/answered.ts'

const log = (block: number): Log => ({
  address: `0x${'11'.repeat(20)}`,
  topics: [],
  data: '0x',
  blockNumber: `0x${block.toString(16)}`,
  blockHash: `0x${String(block).padStart(64, '0')}`,
  transactionHash: `0x${String(block).padStart(64, 'a')}`,
  logIndex: '0x0',
})
const truth = [3, 4, 5].map(log)
const answerOf = (blocks: readonly number[]) => answered(200, { id: 1, jsonrpc: '2.0', result: blocks.map(log) })
const compared = (known: Omit<KnownFilter, 'filter'>, blocks: readonly number[]) =>
  compareFirstPage({ filter: {}, ...known }, answerOf(blocks)).gathering

describe('the comparison of a page with the chain', () => {
  it('is no matter of blocks that came after the look at the chain, in either order', () => {
    for (const blocks of [
      [3, 4, 5, 6, 7],
      [7, 6, 5, 4, 3],
    ]) {
      expect(compared({ truth, upTo: 5n }, blocks).isComplete, blocks.join()).to.equal(true)
      expect(() => compared({ truth }, blocks), blocks.join()).to.throw(Fault, 'the filter does not select')
    }
    expect(compared({ truth, upTo: 5n }, [7, 6]).isComplete).to.equal(false)
  })

  it('still finds what is left out, and what does not belong there', () => {
    expect(() => compared({ truth, upTo: 5n }, [3, 5, 6])).to.throw(Fault, 'leaves entries out')
    expect(() => compared({ truth, upTo: 5n }, [2, 3, 4, 5])).to.throw(Fault, 'the filter does not select')
  })
})
