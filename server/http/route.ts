import type { Middleware } from 'koa'

/**
 * One path of the service; served below each of `listen.basePaths` (`/execute`, `/api/execute`), with slashes doubled
 * too.
 */
export interface Route {
  readonly method: 'GET' | 'POST'
  readonly path: string
  /** The route counts its requests itself, or they cost next to nothing. Requests of all other routes are counted. */
  readonly isUncounted?: true
  /** Throws a ServiceError for every refusal. */
  readonly handle: Middleware
}
