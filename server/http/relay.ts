import type { Registry } from '../core/registry.ts'
import type { Services } from '../core/define.ts'
import { executeRoutes } from './execute.ts'
import { transactionRoute } from './transactions.ts'
import type { JsonLimits } from './json-body.ts'
import type { RateLimits } from '../services/rate-limits.ts'
import type { Route } from './route.ts'

export interface RelayRoutesOptions {
  readonly registry: Registry
  readonly services: Services
  readonly limits: JsonLimits
  readonly rateLimits: RateLimits
}

/** The routes of the relay document but `POST /quota`, and `GET /transactions/{hash}` beside them. */
export function relayRoutes(options: RelayRoutesOptions): Route[] {
  return [...executeRoutes(options), transactionRoute(options.services)]
}
