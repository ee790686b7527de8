import { schemas, type ClauseId, type JsonSchema } from '../../../specs/index.ts'
import type { CheckContext } from '../clause.ts'
import { expect } from '../expect.ts'

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
