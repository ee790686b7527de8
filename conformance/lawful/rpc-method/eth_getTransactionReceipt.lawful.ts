import { defineLawful } from '../../altered/define.ts'
import { alterResult, asksEarly, errorForNull, nullForBadParams } from '../../altered/lib/rpc.ts'

type Members = Readonly<Record<string, unknown>>

const method = 'eth_getTransactionReceipt'
const success = 'eth-rpc.eth_getTransactionReceipt.success'
const schema = 'eth-rpc.eth_getTransactionReceipt.result-schema'
const results = 'eth-rpc 2: "Response envelope and result fields of each method: not shown"'

/** Alters what was found. The result null stays. */
function found(alter: (members: Members) => Members) {
  return alterResult(method, (result) => (result === null ? null : alter(result as Members)))
}

function hexAs(form: (hex: string) => unknown) {
  return (value: unknown): unknown => (typeof value === 'string' && /^0x[0-9a-f]+$/.test(value) ? form(value) : value)
}

function mapped(form: (value: unknown) => unknown): (members: Members) => Members {
  return (members) => Object.fromEntries(Object.entries(members).map(([name, value]) => [name, form(value)]))
}

const omitted = ['logsBloom', 'cumulativeGasUsed', 'effectiveGasPrice', 'type', 'contractAddress']

export default [
  defineLawful({
    id: 'omits-members-of-receipts',
    clauses: [success, schema, 'eth-rpc.types.hash'],
    allowedBy: results,
    mayFail: [schema],
    rpc: found((members) => Object.fromEntries(Object.entries(members).filter(([name]) => !omitted.includes(name)))),
  }),
  defineLawful({
    id: 'has-null-for-members-of-receipts',
    clauses: [success, schema, 'eth-rpc.types.hash'],
    allowedBy: results,
    mayFail: [schema],
    rpc: found((members) => {
      const names = [...omitted, 'logs'].filter((name) => name !== 'contractAddress')
      return { ...members, ...Object.fromEntries(names.map((name) => [name, null])) }
    }),
  }),
  defineLawful({
    id: 'adds-members-to-receipts',
    clauses: [success, schema, 'eth-rpc.types.hash'],
    allowedBy: results,
    mayFail: [schema],
    rpc: found((members) => ({ timeStamp: 1, ...members, decoded: { name: 'f' }, fee: 1.5, blobs: null })),
  }),
  defineLawful({
    id: 'writes-receipts-in-capitals',
    clauses: [success, schema, 'eth-rpc.types.hash'],
    allowedBy: results,
    mayFail: [schema],
    rpc: found(mapped(hexAs((hex) => `0x${hex.slice(2).toUpperCase()}`))),
  }),
  defineLawful({
    id: 'pads-the-numbers-of-receipts',
    clauses: [success, schema, 'eth-rpc.types.hash'],
    allowedBy: results,
    mayFail: [schema],
    rpc: found(mapped(hexAs((hex) => (hex.length < 18 && hex !== '0x' ? `0x${hex.slice(2).padStart(16, '0')}` : hex)))),
  }),
  defineLawful({
    id: 'errs-at-unknown-receipts',
    clauses: ['eth-rpc.eth_getTransactionReceipt.unknown', success],
    allowedBy: 'eth-rpc 7: what is answered for an unknown hash is not shown',
    mayFail: ['eth-rpc.eth_getTransactionReceipt.unknown'],
    rpc: errorForNull(method),
  }),
  defineLawful({
    id: 'has-null-for-malformed-hashes-of-receipts',
    clauses: ['eth-rpc.eth_getTransactionReceipt.bad-params'],
    allowedBy: 'eth-rpc 7: "behavior for … bad parameters: not shown"',
    mayFail: ['eth-rpc.eth_getTransactionReceipt.bad-params', 'eth-rpc.response.error-codes'],
    rpc: nullForBadParams(method),
  }),
  defineLawful({
    id: 'says-in-words-whether-a-transaction-succeeded',
    clauses: [success, schema],
    allowedBy: results,
    mayFail: [schema],
    rpc: found((members) => ({ ...members, status: members['status'] === '0x1' ? 'ok' : 'error' })),
  }),
  defineLawful({
    id: 'says-as-a-boolean-whether-a-transaction-succeeded',
    clauses: [success, schema],
    allowedBy: results,
    mayFail: [schema],
    rpc: found((members) => ({ ...members, status: members['status'] === '0x1' })),
  }),
  defineLawful({
    id: 'lists-the-logs-of-receipts-backwards',
    clauses: [success],
    allowedBy: results,
    rpc: found((members) => ({ ...members, logs: (members['logs'] as unknown[]).toReversed() })),
  }),
  defineLawful({
    id: 'writes-receipts-with-json-integers',
    clauses: [success, schema],
    allowedBy: results,
    mayFail: [schema],
    rpc: found(mapped(hexAs((hex) => (hex.length < 18 ? BigInt(hex) : hex)))),
  }),
  defineLawful({
    id: 'writes-receipts-in-bare-hex',
    clauses: [success, schema],
    allowedBy: results,
    mayFail: [schema],
    rpc: found(mapped(hexAs((hex) => hex.slice(2)))),
  }),
  defineLawful({
    id: 'knows-receipts-after-a-second',
    clauses: [success],
    allowedBy: 'eth-rpc 4: of which moment an answer is, is not shown',
    ...asksEarly(method, 1000, { answer: () => null, isForEver: false }),
  }),
]
