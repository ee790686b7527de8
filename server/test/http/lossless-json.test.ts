import { expect } from 'chai'
import { JsonError, NonIntegerNumber, parseJson, stringifyJson, type Json } from '../../http/lossless-json.ts'

const bytes = (...values: number[]) => Uint8Array.from(values)

function faultOf(input: string | Uint8Array, maxDepth?: number): string {
  try {
    parseJson(input, maxDepth === undefined ? {} : { maxDepth })
  } catch (error) {
    if (error instanceof JsonError) return error.fault
    throw error
  }
  return 'none'
}

describe('parseJson', () => {
  it('reads integers without loss: numbers when they are safe, bigint beyond', () => {
    expect(parseJson('[0,-1,9007199254740991,-9007199254740991]')).to.deep.equal([
      0, -1, 9007199254740991, -9007199254740991,
    ])
    expect(parseJson('9007199254740992')).to.equal(9007199254740992n)
    expect(parseJson('-9007199254740993')).to.equal(-9007199254740993n)
    const max = (1n << 256n) - 1n
    expect(parseJson(`{"nonce":${max}}`)).to.deep.equal({ nonce: max })
  })

  it('keeps every other number as it was spelt', () => {
    for (const source of [
      '1.5',
      '1.50',
      '0.0',
      '1e3',
      '1E3',
      '1e+3',
      '-0',
      '-0.0',
      '1e400',
      '12345678901234567890.5',
    ]) {
      expect(parseJson(source), source).to.be.instanceOf(NonIntegerNumber).with.property('source', source)
    }
  })

  it('is not misled by what stands in strings', () => {
    const text = '{"a":"1.5e3 [[[[ \\" {{{ \\\\","b":"\\\\\\"]","c":12345678901234567890}'
    expect(parseJson(text, { maxDepth: 1 })).to.deep.equal({
      a: '1.5e3 [[[[ " {{{ \\',
      b: '\\"]',
      c: 12345678901234567890n,
    })
  })

  it('takes the last of duplicate keys, with its own spelling', () => {
    expect(parseJson('{"id":1.5,"id":12345678901234567890}')).to.deep.equal({ id: 12345678901234567890n })
    expect(parseJson('{"id":12345678901234567890,"id":2}')).to.deep.equal({ id: 2 })
  })

  it('takes __proto__ as a key like any other', () => {
    for (const text of ['{"__proto__":{"polluted":1}}', '{"__proto__":{"polluted":1.5}}']) {
      const value = parseJson(text) as { polluted?: unknown }
      expect(value.polluted, text).to.be.undefined
      expect(Object.keys(value), text).to.deep.equal(['__proto__'])
    }
    expect(({} as { polluted?: unknown }).polluted).to.be.undefined
  })

  it('refuses what is nested too deep before anything walks it', () => {
    expect(faultOf('['.repeat(32) + ']'.repeat(32))).to.equal('none')
    expect(faultOf('['.repeat(33) + ']'.repeat(33))).to.equal('depth')
    expect(faultOf('{"a":'.repeat(500_000))).to.equal('depth')
    expect(faultOf('[[1],[2],[3]]', 2)).to.equal('none')
    expect(faultOf('[[1],[2],[[3]]]', 2)).to.equal('depth')
  })

  it('refuses more values and keys than 8,192 before it reads any', () => {
    const list = (length: number) => `[${Array.from({ length }, () => '","').join(',')}]`
    const object = (length: number) => `{${Array.from({ length }, (_, index) => `"${index}:":1`).join(',')}}`
    expect([8_191, 8_192].map((length) => faultOf(list(length)))).to.deep.equal(['none', 'values'])
    expect([4_095, 4_096].map((length) => faultOf(object(length)))).to.deep.equal(['none', 'values'])
    for (const dense of ['[[],', '[{},', '{"a":']) {
      expect(faultOf(dense.repeat(3)), dense).to.equal('syntax')
      expect(faultOf(`[${dense.slice(1).repeat(30_000)}`), dense).to.equal('values')
    }
    expect(parseJson('[1,{"a":2}]', { maxValues: 5 })).to.deep.equal([1, { a: 2 }])
    expect(() => parseJson('[1,{"a":2}]', { maxValues: 4 })).to.throw('more than 4 values')
  })

  it('refuses a number of more than 100 characters before it is read', () => {
    for (const long of ['9'.repeat(101), `-0.${'1'.repeat(98)}`, `1e${'0'.repeat(99)}`, '1'.repeat(500_000)]) {
      expect(faultOf(`{"a":[${long}]}`), long.slice(0, 5)).to.equal('number')
      expect(faultOf(`{"a":"${long}"}`)).to.equal('none')
    }
    expect(faultOf('9'.repeat(100))).to.equal('none')
  })

  it('reads everything beside numbers as JSON.parse does', () => {
    const text = ' { "a\\u0041" : [ true , false , null , "\\ud800\\n" , "" , [ ] , { } ] , "": {"b":"\\\\"} , "a":1 } '
    const values: unknown[] = JSON.parse(`[${text},${text}]`) as unknown[]
    expect(parseJson(`[${text},${text},1.5]`)).to.deep.equal([...values, new NonIntegerNumber('1.5')])
  })

  it('refuses what is not UTF-8, and skips a byte order mark', () => {
    expect(faultOf(bytes(0x22, 0xff, 0x22))).to.equal('encoding')
    expect(faultOf(bytes(0x22, 0xed, 0xa0, 0x80, 0x22)), 'a surrogate').to.equal('encoding')
    expect(faultOf(bytes(0x22, 0xc0, 0x80, 0x22)), 'an overlong form').to.equal('encoding')
    expect(parseJson(bytes(0xef, 0xbb, 0xbf, 0x31))).to.equal(1)
    expect(parseJson(Buffer.from('"é☃𝄞"'))).to.equal('é☃𝄞')
  })

  it('refuses what is not JSON', () => {
    for (const text of [
      '',
      ' ',
      '{',
      '01',
      '1.',
      '.5',
      '+1',
      '1e',
      'NaN',
      "'a'",
      '[1,]',
      '{"a":1}}',
      '"\u0000"',
      '"\\',
    ]) {
      expect(faultOf(text), JSON.stringify(text)).to.equal('syntax')
    }
  })
})

describe('stringifyJson', () => {
  it('writes back what parseJson read', () => {
    for (const text of ['{"a":[1,12345678901234567890,1.50,-0,1e400],"b":{"c":null,"d":"\\ud800"}}', '-5', '"x"']) {
      expect(stringifyJson(parseJson(text))).to.equal(text)
    }
  })

  it('writes bigint as an integer literal', () => {
    const value: Json = { nonce: (5n << 128n) | 1n }
    expect(stringifyJson(value)).to.equal('{"nonce":1701411834604692317316873037158841057281}')
  })
})
