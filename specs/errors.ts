import catalogue from './errors.json' with { type: 'json' }

/** The code of an error of the reference server; what is not a row of `specs/errors.json` does not compile. */
export type ErrorCode = keyof typeof catalogue

/** Of them, those with an HTTP status: what a relay answers outside of JSON-RPC. */
export type HttpErrorCode = {
  [Code in ErrorCode]: (typeof catalogue)[Code] extends { readonly status: number } ? Code : never
}[ErrorCode]

/** How one error is told to a caller. */
export interface ErrorEntry {
  /** HTTP status outside of JSON-RPC; absent for the errors that only JSON-RPC knows. */
  readonly status?: number
  /**
   * `error.code` of JSON-RPC, with HTTP 200. On `POST /api/eth-rpc` an error without one is told by its HTTP status, as
   * elsewhere: it is about the HTTP request, and no JSON-RPC request was read.
   */
  readonly rpcCode?: number
  /** What people read; `{reason}` is filled in. */
  readonly message: string
  /** When it is answered. */
  readonly description: string
  /** Where it is answered. */
  readonly endpoints: readonly string[]
}

/** Every error of the reference server by its code. */
export const errorCatalogue: Readonly<Record<ErrorCode, ErrorEntry>> = catalogue
