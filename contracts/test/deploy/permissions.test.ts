import { expect } from 'chai'
import { controllerData, permissionSets, permissionsKey } from '../../deploy/permissions.ts'

describe('permissions', () => {
  it('full is every permission, also those that ALL_PERMISSIONS of LSP6 leaves out', () => {
    expect(permissionSets.full).to.equal(0x7fffffn)
  })

  it('the others lack one', () => {
    expect(permissionSets.full ^ permissionSets.noSign).to.equal(0x200000n)
    expect(permissionSets.full ^ permissionSets.noRelay).to.equal(0x400000n)
  })

  it('writes the data keys of LSP6', () => {
    const one = '0x' + '11'.repeat(20)
    const two = '0x' + '22'.repeat(20)
    expect(permissionsKey(one)).to.equal('0x4b80742de2bf82acb3630000' + '11'.repeat(20))
    expect(
      controllerData([
        { address: one, permissions: 1n },
        { address: two, permissions: 0x7fffffn },
      ]),
    ).to.deep.equal({
      keys: [
        '0xdf30dba06db6a30e65354d9a64c609861f089545ca58c6b4dbe31a5f338cb0e3',
        '0xdf30dba06db6a30e65354d9a64c60986' + '00'.repeat(16),
        '0x4b80742de2bf82acb3630000' + '11'.repeat(20),
        '0xdf30dba06db6a30e65354d9a64c60986' + '00'.repeat(15) + '01',
        '0x4b80742de2bf82acb3630000' + '22'.repeat(20),
      ],
      values: [
        '0x' + '00'.repeat(15) + '02',
        one,
        '0x' + '00'.repeat(31) + '01',
        two,
        '0x' + '00'.repeat(29) + '7fffff',
      ],
    })
  })
})
