import { type ClauseId, type JsonSchema, schemas } from '../../../specs/index.ts'
import { type CheckContext, clause, type ClauseSuite } from '../clause.ts'
import { expect, requireServed } from '../expect.ts'
import { Untestable } from '../outcome.ts'
import { isWithoutMeaning } from './prices.ts'
import { expectServed } from './serve.ts'

type ResultSchemaClause = Extract<ClauseId, `eth-rpc.${string}.result-schema`>
type Method = ResultSchemaClause extends `eth-rpc.${infer Name}.result-schema` ? Name : never

type Value = Readonly<Record<string, unknown>>

function isObject(value: unknown): value is Value {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function keep(value: Value, properties: unknown, extra: Set<string>): Value {
  const known = new Set(Object.keys(isObject(properties) ? properties : {}))
  for (const name of Object.keys(value)) if (!known.has(name)) extra.add(name)
  return Object.fromEntries(Object.entries(value).filter(([name]) => known.has(name)))
}

function keepLog(value: unknown, extra: Set<string>): unknown {
  return isObject(value) ? keep(value, schemas['ethereum/log']?.['properties'], extra) : value
}

/** The name of the form for transactions of this type. */
function transactionForm(value: Value): string | undefined {
  const forms = Object.entries((schemas['ethereum/transaction']?.['$defs'] ?? {}) as Record<string, JsonSchema>)
  return forms.find(([, form]) => {
    const properties = form['properties'] as Record<string, JsonSchema> | undefined
    return properties?.['type']?.['const'] === value['type']
  })?.[0]
}

interface Judged {
  /** The value without the members that the standard does not have. A node may add members. */
  readonly value: unknown
  readonly schema: string
}

function judged(method: Method, value: unknown, extra: Set<string>): Judged {
  const schema = `rpc-method/${method}#/properties/result`
  if (method === 'eth_getLogs' && Array.isArray(value)) {
    return { schema, value: value.map((log: unknown) => keepLog(log, extra)) }
  }
  if (!isObject(value)) return { schema, value }
  if (method === 'eth_getTransactionReceipt') {
    const receipt = keep(value, schemas['ethereum/receipt']?.['properties'], extra)
    const { logs } = receipt
    const standardLogs = Array.isArray(logs) ? { logs: logs.map((log: unknown) => keepLog(log, extra)) } : {}
    return { schema, value: { ...receipt, ...standardLogs } }
  }
  const form = method === 'eth_getTransactionByHash' ? transactionForm(value) : undefined
  if (form === undefined) return { schema, value }
  // Only the form of its type can fit the transaction, and this form says best what is wrong.
  const pointer = `ethereum/transaction#/$defs/${form}`
  const forms = schemas['ethereum/transaction']?.['$defs'] as Record<string, JsonSchema>
  return { schema: pointer, value: keep(value, forms[form]?.['properties'], extra) }
}

/**
 * The result has the form of the standard. Members beyond the standard are observed and not judged.
 *
 * @throws Fault when the form is another
 */
export function expectResultSchema(t: Pick<CheckContext, 'observe'>, method: Method, result: unknown): void {
  const extra = new Set<string>()
  const { value, schema } = judged(method, result, extra)
  if (extra.size > 0) t.observe(`${method} has members beyond the standard: ${[...extra].sort().join(', ')}`)
  expect(value).to.fit(schema)
}

type BadParamsClause = Extract<ClauseId, `eth-rpc.${string}.bad-params`>
/** A method that has a clause about bad parameters. */
type BadParamsMethod = BadParamsClause extends `eth-rpc.${infer Method}.bad-params` ? Method : never

interface BadParamsCase {
  /** The fault, in the words of the check's title. */
  readonly fault: string
  /** Puts the fault into the parameters of the twin. A value that is no array is sent as it is. */
  readonly spoil: (good: readonly unknown[]) => unknown
  /** Makes the parameters of another twin than the method's own. */
  readonly twin?: (t: CheckContext) => Promise<readonly unknown[]>
}

/**
 * Defines the clause about the bad parameters of a method. Each check sends the twin first, which differs by one
 * fault alone.
 */
export function badParams(
  method: BadParamsMethod,
  twin: (t: CheckContext) => Promise<readonly unknown[]>,
  cases: readonly BadParamsCase[],
): ClauseSuite {
  return clause(`eth-rpc.${method}.bad-params`, (check) => {
    for (const { fault, spoil, twin: own } of cases) {
      check(`${fault}: an error`, async (t) => {
        const good = await (own ?? twin)(t)
        if (await isWithoutMeaning(t, method)) throw new Untestable(`${method} has no meaning on this chain`)
        // The document does not show the fields of a filter. So a target that refuses a form of the filter breaks no
        // sentence, and the check is untestable.
        if (method === 'eth_getLogs') requireServed(await t.rpc.call(method, good))
        else await expectServed(t, method, good)
        expect(await t.rpc.send({ id: 1, jsonrpc: '2.0', method, params: spoil(good) })).to.be.refused
      })
    }
  })
}

/** The cases of a method without parameters. */
export const unexpectedParams: readonly BadParamsCase[] = [
  { fault: 'a parameter too many', spoil: () => ['latest'] },
  { fault: 'an object instead of a list', spoil: () => ({ block: 'latest' }) },
  { fault: 'a string instead of a list', spoil: () => 'latest' },
]

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
