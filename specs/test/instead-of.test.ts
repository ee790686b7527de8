import { expect } from 'chai'
import { insteadOf } from '../instead-of.ts'

describe('a name that is not known', () => {
  it('is answered with the one that is meant', () => {
    expect(insteadOf('rpcUrl', ['gasCap', 'rpcUrls', 'rpcUserAgent'])).to.equal('; did you mean rpcUrls?')
    expect(insteadOf('TransactionCount', ['gas', 'transaction-count'])).to.equal('; did you mean transaction-count?')
  })

  it('is answered with those that there are, when it is like none and they are few', () => {
    expect(insteadOf('allowance', ['transactionsPerPeriod', 'period'])).to.equal(
      '; there are transactionsPerPeriod, period',
    )
    expect(insteadOf('anything', [])).to.equal('')
    const many = Array.from({ length: 21 }, (_, index) => `member-${index}`)
    expect(insteadOf('anything', many)).to.equal('')
    expect(insteadOf('anything', many.slice(1))).to.include('member-20')
  })
})
