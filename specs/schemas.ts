import { readdirSync, readFileSync } from 'node:fs'

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
