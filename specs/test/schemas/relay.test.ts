import { altered, exampleOf, judge, lacking, without } from '../judge.ts'

const request = exampleOf('relay/execute#/properties/request')
const transaction = request['transaction'] as Record<string, unknown>
const signed = (changes: object) => ({ ...request, transaction: { ...transaction, ...changes } })

judge('relay/execute#/properties/request', {
  accepts: {
    'the documented body': request,
    'a lower-case address': { ...request, address: String(request['address']).toLowerCase() },
    'unknown members': { ...request, note: 1, transaction: { ...transaction, note: 1 } },
    'a key manager, whatever it says': { ...request, keyManagerAddress: null },
    'nonce 0': signed({ nonce: 0 }),
    'a decimal nonce': signed({ nonce: '340282366920938463463374607431768211456' }),
    'a hex nonce': signed({ nonce: '0x100000000000000000000000000000000' }),
    'a signature of another length, to be refused by name': signed({ signature: '0xabcd' }),
    ...Object.fromEntries(
      ['0x0', `0x${'00'.repeat(32)}`, '0', 0, null].map((value) => [
        `validityTimestamps ${JSON.stringify(value)}`,
        signed({ validityTimestamps: value }),
      ]),
    ),
    ...Object.fromEntries(
      ['0x', '0x0', '0x00', '0', 0, null].map((value) => [`value ${JSON.stringify(value)}`, signed({ value })]),
    ),
  },
  refuses: {
    'no address': without(request, 'address'),
    'no transaction': without(request, 'transaction'),
    'no abi': { ...request, transaction: without(transaction, 'abi') },
    'no signature': { ...request, transaction: without(transaction, 'signature') },
    'no nonce': { ...request, transaction: without(transaction, 'nonce') },
    'a short address': { ...request, address: '0x1234' },
    'an address that is a number': { ...request, address: 1 },
    'a list': [request],
    'a transaction that is a string': { ...request, transaction: '0x' },
    'call data without 0x': signed({ abi: '7f23690c' }),
    'call data of half a byte': signed({ abi: '0x7f23690c1' }),
    'call data that is not hex': signed({ abi: '0x7f23690z' }),
    'call data shorter than a selector': signed({ abi: '0x7f2369' }),
    'a signature that is an object': signed({ signature: { r: '0x1', s: '0x1', v: 27 } }),
    'a signature that is not hex': signed({ signature: 'signed' }),
    'a negative nonce': signed({ nonce: -1 }),
    'a fraction as nonce': signed({ nonce: 1.5 }),
    'a boolean nonce': signed({ nonce: true }),
    'a nonce of null': signed({ nonce: null }),
    'a nonce in words': signed({ nonce: 'one' }),
    'a nonce with an exponent': signed({ nonce: '1e3' }),
    'a nonce with leading zeros': signed({ nonce: '01' }),
    'a nonce beyond 256 bits': signed({ nonce: `0x1${'0'.repeat(64)}` }),
    'negative validity': signed({ validityTimestamps: -1 }),
    'validity in words': signed({ validityTimestamps: 'always' }),
    'validity beyond 256 bits': signed({ validityTimestamps: `0x1${'0'.repeat(64)}` }),
    'validity as an object': signed({ validityTimestamps: { start: 0, end: 0 } }),
    'a value that would be sent': signed({ value: '0x1' }),
    'a value of one wei': signed({ value: 1 }),
  },
})

judge('relay/execute#/properties/response', {
  accepts: { 'a hash': exampleOf('relay/execute#/properties/response') },
  refuses: { nothing: {}, 'a short hash': { transactionHash: '0xab' }, null: { transactionHash: null } },
})

const quotaRequest = exampleOf('quota/quota#/properties/request')
judge('quota/quota#/properties/request', {
  accepts: { 'the documented body': quotaRequest, 'unknown members': { ...quotaRequest, note: 1 } },
  refuses: {
    'no address': without(quotaRequest, 'address'),
    'no timestamp': without(quotaRequest, 'timestamp'),
    'no signature': without(quotaRequest, 'signature'),
    'a timestamp that is a string': { ...quotaRequest, timestamp: '1767225600' },
    'a fraction as timestamp': { ...quotaRequest, timestamp: 1767225600.5 },
    'a boolean timestamp': { ...quotaRequest, timestamp: true },
    'a negative timestamp': { ...quotaRequest, timestamp: -1 },
    'a timestamp of null': { ...quotaRequest, timestamp: null },
  },
})

const quota = exampleOf('quota/quota#/properties/response')
judge('quota/quota#/properties/response', {
  accepts: {
    'a monthly model': quota,
    'pay as you go': { quota: 1.5, unit: 'lyx' },
    'a count': { ...quota, unit: 'transactionCount' },
  },
  refuses: {
    'no quota': without(quota, 'quota'),
    'no unit': without(quota, 'unit'),
    'a quota that is a string': { ...quota, quota: '19950000' },
    'NaN, written as null': { ...quota, quota: null },
    'an unknown unit': { ...quota, unit: 'wei' },
    'a total that is a string': { ...quota, totalQuota: '20000000' },
    'a reset date that is a string': { ...quota, resetDate: '2026-02-01' },
    'a fraction as reset date': { ...quota, resetDate: 1769904000.5 },
  },
})

const status = exampleOf('relay/transactions#/properties/response')
judge('relay/transactions#/properties/response', {
  accepts: { pending: status },
  refuses: {
    ...lacking(status, ['status', 'transactionHash', 'attempts', 'block', 'gasUsed', 'charged']),
    ...altered(status, {
      status: 'lost',
      attempts: [],
      block: 436,
      gasUsed: -1,
      charged: { amount: -1, unit: 'gas' },
    }),
    'an attempt without a hash': { ...status, attempts: [{ signedAt: 1767225600 }] },
    'an attempt without a time': { ...status, attempts: [{ transactionHash: status['transactionHash'] }] },
    'a block without a hash': { ...status, block: { number: 436 } },
    'a block without a number': { ...status, block: { hash: status['transactionHash'] } },
    'a charge without a unit': { ...status, charged: { amount: 1 } },
    'a charge without an amount': { ...status, charged: { unit: 'gas' } },
    'a charge in wei': { ...status, charged: { amount: 1, unit: 'wei' } },
  },
})

const error = exampleOf('error')
judge('error', {
  accepts: { 'an error': error },
  refuses: {
    ...lacking(error, ['code', 'message', 'details', 'broadcast']),
    ...altered(error, { code: 'nonce gap', message: 1, details: 'none', broadcast: 'no' }),
    text: 'Error',
  },
})

judge('json-rpc#/$defs/response', {
  accepts: {
    'a result': { jsonrpc: '2.0', id: 1, result: null },
    'an error': { jsonrpc: '2.0', id: 'a', error: { code: -32601, message: 'no' } },
    'an error without an id': { jsonrpc: '2.0', id: null, error: { code: -32700, message: 'no' } },
  },
  refuses: {
    'result and error': { jsonrpc: '2.0', id: 1, result: 1, error: { code: 1, message: 'no' } },
    'neither result nor error': { jsonrpc: '2.0', id: 1 },
    'another version': { jsonrpc: '1.0', id: 1, result: 1 },
    'no id': { jsonrpc: '2.0', result: 1 },
    'an id that is an object': { jsonrpc: '2.0', id: {}, result: 1 },
    'a failure of another version': { jsonrpc: '1.0', id: 1, error: { code: 1, message: 'no' } },
    'a failure without a version': { id: 1, error: { code: 1, message: 'no' } },
    'a failure without an id': { jsonrpc: '2.0', error: { code: 1, message: 'no' } },
    'a result without a version': { id: 1, result: 1 },
    'an error without a code': { jsonrpc: '2.0', id: 1, error: { message: 'no' } },
    'a message that is a number': { jsonrpc: '2.0', id: 1, error: { code: 1, message: 1 } },
    'an error that is text': { jsonrpc: '2.0', id: 1, error: 'no' },
    'a code that is text': { jsonrpc: '2.0', id: 1, error: { code: '-32601', message: 'no' } },
    'an error without a message': { jsonrpc: '2.0', id: 1, error: { code: -32601 } },
  },
})
