import { expect } from 'chai'
import { Interface } from 'ethers'
import { describeRevert, isRefusal, revertReason } from '../../ethereum/revert-reason.ts'

const encode = (error: string, args: readonly unknown[] = []) => {
  const errors = new Interface([`error ${error}`])
  return errors.encodeErrorResult(error.replace(/\(.*/, ''), args)
}
const ADDRESS = '0x5FbDB2315678afecb367f032d93F642f64180aa3'

describe('revertReason', () => {
  it('names the error of a key manager and its arguments, and knows which one refuses the controller', () => {
    const reason = revertReason(encode('NotAuthorised(address from, string permission)', [ADDRESS, 'SETDATA']))
    expect(reason).to.deep.include({ name: 'NotAuthorised', args: { from: ADDRESS, permission: 'SETDATA' } })
    expect(isRefusal(reason)).to.equal(true)
    expect(describeRevert(reason)).to.equal(`with NotAuthorised (from ${ADDRESS}, permission SETDATA)`)
    const expired = revertReason(encode('RelayCallExpired()'))
    expect([isRefusal(expired), describeRevert(expired)]).to.deep.equal([false, 'with RelayCallExpired'])
  })

  it('names the error of a token, which is no refusal of the controller', () => {
    const error = 'LSP7AmountExceedsBalance(uint256 balance, address tokenOwner, uint256 amount)'
    const reason = revertReason(encode(error, [1, ADDRESS, 2]))
    expect(isRefusal(reason)).to.equal(false)
    expect(describeRevert(reason)).to.equal(
      `with LSP7AmountExceedsBalance (balance 1, tokenOwner ${ADDRESS}, amount 2)`,
    )
  })

  it('tells a text and a panic of Solidity', () => {
    const text = revertReason(encode('Error(string)', ['too late']))
    expect([text.args, describeRevert(text)]).to.deep.equal([{ message: 'too late' }, "with 'too late'"])
    expect(describeRevert(revertReason(encode('Panic(uint256)', [17])))).to.equal('with Panic (code 17)')
  })

  it('tells apart the two forms that an error has in different versions', () => {
    const forms = ['ERC725Y_DataKeysValuesLengthMismatch()', 'ERC725Y_DataKeysValuesLengthMismatch(uint256, uint256)']
    const [bare, counted] = [revertReason(encode(forms[0] ?? '')), revertReason(encode(forms[1] ?? '', [1, 2]))]
    expect(bare.args).to.deep.equal({})
    expect(counted.args).to.deep.equal({ dataKeysLength: '1', dataValuesLength: '2' })
  })

  it('keeps data that nobody knows, also under a known selector, and calls it no refusal', () => {
    const known = encode('NotAuthorised(address from, string permission)', [ADDRESS, 'SETDATA']).slice(0, 10)
    for (const data of ['0x', '0x12', '0xdeadbeef', `${known}ff`]) {
      const reason = revertReason(data)
      expect([reason.name, reason.data, isRefusal(reason)]).to.deep.equal([null, data, false])
    }
    expect(describeRevert(revertReason('0x'))).to.equal('without a reason')
    expect(describeRevert(revertReason('0xdeadbeef00'))).to.equal('with unknown data 0xdeadbeef')
  })

  it('shortens a long argument for people, and keeps it whole', () => {
    const reason = revertReason(encode('InvalidPayload(bytes payload)', [`0x${'ab'.repeat(100)}`]))
    expect(reason.args['payload']).to.have.length(202)
    expect(describeRevert(reason)).to.match(/^with InvalidPayload \(payload 0x(?:ab)+a?…\)$/)
  })
})
