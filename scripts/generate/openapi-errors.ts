import { errorCatalogue, type ErrorEntry } from '../../specs/index.ts'
import type { Bundle } from './bundle.ts'

type Row = ErrorEntry & { readonly code: string }

/** The error responses of an endpoint by HTTP status, from the error catalogue. */
export function errorResponses(bundle: Bundle, endpoint: string): Record<string, object> {
  const rows = rowsOf(endpoint).filter((row) => row.status !== undefined && !isRpc(row, endpoint))
  const byStatus = Object.groupBy(rows, (row) => String(row.status))
  return Object.fromEntries(
    Object.entries(byStatus).map(([status, group = []]) => [
      status,
      {
        description: group.map(({ code, description }) => `\`${code}\`: ${description}`).join('\n\n'),
        ...headersOf(status),
        content: {
          'application/json': {
            schema: {
              allOf: [
                bundle.ref('error'),
                { type: 'object', properties: { code: { enum: group.map(({ code }) => code) } } },
              ],
            },
          },
        },
      },
    ]),
  )
}

/** The JSON-RPC errors of an endpoint as a Markdown list. */
export function rpcErrorTable(endpoint: string): string {
  return rowsOf(endpoint)
    .filter((row) => isRpc(row, endpoint))
    .map(({ rpcCode, code, description }) => `- \`${rpcCode ?? ''}\` (${code}): ${description}`)
    .join('\n')
}

function rowsOf(endpoint: string): Row[] {
  return Object.entries(errorCatalogue)
    .map(([code, entry]) => ({ code, ...entry }))
    .filter(({ endpoints }) => endpoints.includes(endpoint))
}

const isRpc = (row: Row, endpoint: string) => endpoint === '/api/eth-rpc' && row.rpcCode !== undefined

function headersOf(status: string): object {
  const name = { 405: 'Allow', 429: 'Retry-After', 503: 'Retry-After' }[status]
  if (name === undefined) return {}
  const description =
    name === 'Allow' ? 'The methods that the path takes.' : 'Seconds until it makes sense to try again.'
  return { headers: { [name]: { description, schema: { type: name === 'Allow' ? 'string' : 'integer' } } } }
}
