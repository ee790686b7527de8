import { ServiceError } from '../../core/errors.ts'
import type { Upstream } from './upstream.ts'

const RETRY_SECONDS = 1

/**
 * Refuses calls when too many are under way or waiting. When a node has become slow, a caller is told at once to come back
 * later, and does not wait for minutes in a queue that only grows. Transactions that are stored are sent in any case
 * (`requestTogether`, `eth_sendRawTransaction`).
 *
 * @returns an upstream whose `request` also throws ServiceError UPSTREAM_UNAVAILABLE, with the time to wait
 */
export function budgetUpstream(upstream: Upstream, maxCalls: number): Upstream {
  let underWay = 0
  return {
    ...upstream,
    request: async <Result>(...[method, params, options]: Parameters<Upstream['request']>) => {
      if (underWay >= maxCalls && method !== 'eth_sendRawTransaction') {
        throw new ServiceError('UPSTREAM_UNAVAILABLE', `${maxCalls} calls to the node wait already`, {
          retryAfterSeconds: RETRY_SECONDS,
        })
      }
      underWay++
      try {
        return await upstream.request<Result>(method, params, options)
      } finally {
        underWay--
      }
    },
  }
}
