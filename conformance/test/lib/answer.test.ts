import { expect } from 'chai'
import { wordsOf } from '../../lib/answer.ts'

const words = (text: string) => wordsOf({ text })

describe('the words of a refusal', () => {
  it('are the same whatever number or hash it names', () => {
    expect(words('nonce 17 of 0x12abcdef is used')).to.equal(words('nonce 9 of 0xfe09 is used'))
  })

  it('differ where it says something else', () => {
    expect(words('nonce 17 is used')).to.not.equal(words('nonce 17 is too high'))
  })
})
