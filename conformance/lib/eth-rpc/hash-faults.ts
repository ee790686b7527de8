import type { BadParamsCase } from './bad-params.ts'

/** The cases of a method whose one parameter is a hash of 32 bytes. */
export const hashFaults: readonly BadParamsCase[] = [
  { fault: 'no parameters', spoil: () => [] },
  { fault: 'a parameter too many', spoil: ([hash]) => [hash, 'latest'] },
  { fault: 'a hash of 31 bytes', spoil: ([hash]) => [String(hash).slice(0, -2)] },
  { fault: 'a hash of 33 bytes', spoil: ([hash]) => [`${String(hash)}00`] },
  { fault: 'a hash that is not hex', spoil: ([hash]) => [`${String(hash).slice(0, -1)}g`] },
  { fault: 'a number instead of a hash', spoil: () => [1] },
  { fault: 'null instead of a hash', spoil: () => [null] },
]
