import { judge } from './judge.ts'

judge('common#/$defs/quantity', {
  accepts: { zero: '0x0', 'any size': `0x1${'0'.repeat(80)}` },
  refuses: { 'leading zeros': '0x00', 'upper case': '0xA', 'no digits': '0x', decimal: '10', 'a number': 10 },
})

judge('common#/$defs/bytes', {
  accepts: { none: '0x', 'any case': '0xaBcD' },
  refuses: { 'half a byte': '0xabc', 'no 0x': 'abcd', 'upper-case 0X': '0XABCD', 'a line end': '0xab\n' },
})

judge('common#/$defs/blockNumber', {
  accepts: { 'the largest safe integer': Number.MAX_SAFE_INTEGER, '64 bits': '0xffffffffffffffff' },
  // Beyond it two numbers read as one: the block asked for would not be the block answered.
  refuses: { 'an unsafe integer': 2 ** 53, '65 bits': '0x10000000000000000' },
})

judge('common#/$defs/unixSeconds', {
  accepts: { 'a time': 1767225600 },
  refuses: { 'an unsafe integer': 2 ** 53, negative: -1, 'a string': '1767225600' },
})
