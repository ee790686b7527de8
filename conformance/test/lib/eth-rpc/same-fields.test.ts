import { expect } from 'chai'
import { expectSameFields } from '../../../lib/eth-rpc/same-fields.ts'
import { Fault } from '../../../lib/outcome.ts'

const fields = ['nonce', 'hash', 'input', 'to', 'accessList']
const compare = (truth: Record<string, unknown>, found: Record<string, unknown>) => () =>
  expectSameFields('it', fields, truth, found)

describe('expectSameFields', () => {
  it('takes numbers by value and hex in any case', () => {
    expect(compare({ nonce: '0x0f', hash: '0xAB' }, { nonce: 15, hash: '0xab' })).not.to.throw()
    expect(compare({ accessList: [{ address: '0xAB' }] }, { accessList: [{ address: '0xab' }] })).not.to.throw()
  })

  it('does not compare what one of them leaves out, and nothing beside the fields', () => {
    expect(compare({ nonce: '0x1', to: null }, { to: '0x1' })).not.to.throw()
    expect(compare({ other: 1 }, { other: 2 })).not.to.throw()
  })

  it('names the field that differs', () => {
    expect(compare({ nonce: '0x1' }, { nonce: '0x2' })).to.throw(Fault, 'nonce of it')
  })

  it('counts leading zeros of bytes', () => {
    expect(compare({ input: '0x01' }, { input: '0x0001' })).to.throw(Fault, 'input of it')
    expect(compare({ input: '0x' }, { input: '0x00' })).to.throw(Fault)
  })
})
