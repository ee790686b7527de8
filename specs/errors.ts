import catalogue from './errors.json' with { type: 'json' }

/** The code of an error of the reference server; what is not a row of `specs/errors.json` does not compile. */
export type ErrorCode = keyof typeof catalogue

/** How one error is told to a caller. */
export interface ErrorEntry {
  /** HTTP status outside of JSON-RPC; absent for the errors that only JSON-RPC knows (answered with 200). */
  readonly status?: number
  /** `error.code` of JSON-RPC; absent for what `POST /api/eth-rpc` never answers. */
  readonly rpcCode?: number
  /** What people read; `{reason}` is filled in. */
  readonly message: string
  /** When it is answered. */
  readonly description: string
}

/** Every error of the reference server by its code. */
export const errorCatalogue: Readonly<Record<ErrorCode, ErrorEntry>> = catalogue
