import { defineLawful } from '../../altered/define.ts'
import { alterResult, asksEarly, errorForNull, nullForBadParams } from '../../altered/lib/rpc.ts'

type Members = Readonly<Record<string, unknown>>

const method = 'eth_getTransactionByHash'
const success = 'eth-rpc.eth_getTransactionByHash.success'
const schema = 'eth-rpc.eth_getTransactionByHash.result-schema'
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

const omitted = ['v', 'r', 's', 'yParity', 'accessList', 'type', 'chainId', 'maxFeePerGas', 'maxPriorityFeePerGas']

export default [
  defineLawful({
    id: 'omits-members-of-transactions',
    clauses: [success, schema, 'eth-rpc.types.hash'],
    allowedBy: results,
    mayFail: [schema],
    rpc: found((members) => Object.fromEntries(Object.entries(members).filter(([name]) => !omitted.includes(name)))),
  }),
  defineLawful({
    id: 'adds-members-to-transactions',
    clauses: [success, schema, 'eth-rpc.types.hash'],
    allowedBy: results,
    mayFail: [schema],
    rpc: found((members) => ({ timeStamp: 1, ...members, decoded: { name: 'f' }, fee: 1.5, blobs: null })),
  }),
  defineLawful({
    id: 'writes-transactions-in-capitals',
    clauses: [success, schema, 'eth-rpc.types.hash'],
    allowedBy: results,
    mayFail: [schema],
    rpc: found(mapped(hexAs((hex) => `0x${hex.slice(2).toUpperCase()}`))),
  }),
  defineLawful({
    id: 'pads-the-numbers-of-transactions',
    clauses: [success, schema, 'eth-rpc.types.hash'],
    allowedBy: results,
    mayFail: [schema],
    rpc: found((members) => ({
      ...mapped(hexAs((hex) => (hex.length < 18 ? `0x${hex.slice(2).padStart(16, '0')}` : hex)))(members),
      // The input is bytes, in which each digit counts.
      input: members['input'],
    })),
  }),
  defineLawful({
    id: 'errs-at-unknown-transactions',
    clauses: ['eth-rpc.eth_getTransactionByHash.unknown', success],
    allowedBy: 'eth-rpc 7: what is answered for an unknown hash is not shown',
    mayFail: ['eth-rpc.eth_getTransactionByHash.unknown'],
    rpc: errorForNull(method),
  }),
  defineLawful({
    id: 'has-null-for-malformed-hashes-of-transactions',
    clauses: ['eth-rpc.eth_getTransactionByHash.bad-params'],
    allowedBy: 'eth-rpc 7: "behavior for … bad parameters: not shown"',
    mayFail: ['eth-rpc.eth_getTransactionByHash.bad-params', 'eth-rpc.response.error-codes'],
    rpc: nullForBadParams(method),
  }),
  defineLawful({
    id: 'writes-transactions-with-json-integers',
    clauses: [success, schema],
    allowedBy: results,
    mayFail: [schema],
    rpc: found((members) => ({
      ...mapped(hexAs((hex) => (hex.length < 18 ? BigInt(hex) : hex)))(members),
      value: BigInt(String(members['value'])).toString(),
      input: members['input'],
    })),
  }),
  defineLawful({
    id: 'writes-transactions-in-bare-hex',
    clauses: [success, schema],
    allowedBy: results,
    mayFail: [schema],
    rpc: found(mapped(hexAs((hex) => hex.slice(2)))),
  }),
  defineLawful({
    id: 'writes-nothing-as-an-empty-text',
    clauses: [success, schema],
    allowedBy: results,
    mayFail: [schema],
    rpc: found(mapped((value) => value ?? '')),
  }),
  defineLawful({
    id: 'knows-transactions-after-a-second',
    clauses: [success],
    allowedBy: 'eth-rpc 4: of which moment an answer is, is not shown',
    ...asksEarly(method, 1000, { answer: () => null, isForEver: false }),
  }),
]
