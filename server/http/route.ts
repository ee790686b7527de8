import type { Middleware } from 'koa'

/** One path of the service; served below each of `listen.basePaths` (`/execute`, `/api/execute`), with slashes doubled too. */
export interface Route {
  readonly method: 'GET' | 'POST'
  readonly path: string
  /** It counts its requests itself, or they cost next to nothing however many there are; all others are counted. */
  readonly isUncounted?: true
  /** Throws a ServiceError for every refusal. */
  readonly handle: Middleware
}
