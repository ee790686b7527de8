import type { Middleware } from 'koa'

/** One path of the service; served under any prefix (`/execute`, `/api/execute`, `//execute`). */
export interface Route {
  readonly method: 'GET' | 'POST'
  readonly path: string
  /** Throws a ServiceError for every refusal. */
  readonly handle: Middleware
}
