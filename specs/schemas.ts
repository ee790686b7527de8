import { readdirSync, readFileSync } from 'node:fs'
import type { components as ConfigComponents } from './generated/config.ts'
import type { components } from './generated/openapi.ts'

/** A JSON Schema 2020-12 document. */
export type JsonSchema = { readonly [keyword: string]: unknown }

const folder = new URL('./schemas/', import.meta.url)

/**
 * Every schema of `specs/schemas/` by its path without `.json`: `common`, `rpc-method/eth_chainId`, `plugin/relay`.
 * They refer to each other by relative path, so a validator needs all of them added before it compiles one. Found by
 * folder: a new method is a new file, and no list grows.
 */
export const schemas: Readonly<Record<string, JsonSchema>> = Object.fromEntries(
  readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .map((path) => path.replaceAll('\\', '/'))
    .filter((path) => path.endsWith('.json'))
    .sort()
    .map((path) => [
      path.slice(0, -'.json'.length),
      JSON.parse(readFileSync(new URL(path, folder), 'utf8')) as JsonSchema,
    ]),
)

type Schemas = components['schemas']

/** The JSON-RPC methods of the interface: those that have a schema. */
export type RpcMethod = {
  [Name in keyof Schemas]: Name extends `rpc-method.${infer Method}.params` ? Method : never
}[keyof Schemas]

/** The positional parameters of each JSON-RPC method. */
export type RpcMethodParams = { readonly [Method in RpcMethod]: Schemas[`rpc-method.${Method}.params`] }

/** The result of each JSON-RPC method. */
export type RpcMethodResult = { readonly [Method in RpcMethod]: Schemas[`rpc-method.${Method}.result`] }

/** A log entry, as `eth_getLogs` and receipts hold it. */
export type Log = Schemas['ethereum.log']

/** A receipt of a mined transaction. */
export type Receipt = Schemas['ethereum.receipt']

/** A transaction of any type. */
export type Transaction = Schemas['ethereum.transaction']

/** A block by number (quantity in any letter case, or a JSON integer) or by tag. */
export type BlockParam = Schemas['common.blockNumberOrTag']

/** The filter of `eth_getLogs`. */
export type LogFilter = RpcMethodParams['eth_getLogs'][0]

/** Body of `POST /execute`. */
export type ExecuteRequest = Schemas['relay.execute.request']

/** Answer of `POST /execute`. */
export type ExecuteResponse = Schemas['relay.execute.response']

/** Body of `POST /quota`. */
export type QuotaRequest = Schemas['quota.quota.request']

/** Answer of `POST /quota`. */
export type QuotaResponse = Schemas['quota.quota.response']

/** Answer of `GET /transactions/{hash}`. */
export type TransactionStatus = Schemas['relay.transactions.response']

/** Body of every failed request outside of JSON-RPC. */
export type ErrorBody = Schemas['error']

/** The configuration of the reference server, defaults filled in. */
export type Config = ConfigComponents['schemas']['config']
