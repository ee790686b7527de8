import { expect } from 'chai'
import { byteLengthOf, listOf, partOf, sizeOf, type JsonText } from '../../http/json-text.ts'

const long = `"${'é'.repeat(20_000)}"`
const together = (text: JsonText) => (typeof text === 'string' ? text : text.map(String).join(''))

describe('JSON text', () => {
  const lists: [string, JsonText[]][] = [
    ['nothing', []],
    ['strings', ['1', '"a"']],
    ['a large part alone', [['', partOf(long), '']]],
    [
      'large parts among strings',
      ['1', ['[', partOf(long), ']'], '2', '3', ['[', partOf(long), ',', partOf(long), ']']],
    ],
  ]
  for (const [name, values] of lists) {
    it(`makes a list of ${name}`, () => {
      const list = listOf(values)
      expect(together(list)).to.equal(`[${values.map(together).join(',')}]`)
      expect(byteLengthOf(list)).to.equal(Buffer.byteLength(together(list)))
    })
  }

  it('copies no large part', () => {
    const part = partOf(long)
    expect(part).to.be.instanceOf(Buffer)
    expect(listOf(['1', ['', part, '']])).to.include(part)
  })

  it('tells the size of what is not large by its characters', () => {
    expect(sizeOf('"é"')).to.equal(3)
    expect(sizeOf(['[', partOf(long), ']'])).to.equal(4 + Buffer.byteLength('é') * 20_000)
  })
})
