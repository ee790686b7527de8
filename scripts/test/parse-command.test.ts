import { expect } from 'chai'
import { choicesIn } from '../parse-command.ts'
import { UsageError } from '../../conformance/lib/usage-error.ts'

describe('choicesIn', () => {
  it('takes what is named, and refuses what is no choice', () => {
    expect(choicesIn('--node', 'anvil,hardhat', ['hardhat', 'anvil'])).to.deep.equal(['anvil', 'hardhat'])
    for (const wrong of ['geth', 'anvil,geth', '']) {
      expect(() => choicesIn('--node', wrong, ['hardhat', 'anvil'])).to.throw(UsageError, '--node')
    }
  })
})
