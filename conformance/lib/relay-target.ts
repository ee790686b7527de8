import type { Answer } from './answer.ts'
import type { Endpoint, SendOptions } from './endpoint.ts'

/** The two paths of the relay under {relay_url}. */
export interface RelayTarget {
  /** POST /execute with any body. Spends when the target takes it: ask `spending` first (the drivers do). */
  execute(body: unknown, options?: SendOptions): Promise<Answer>
  /** POST /quota with any body. */
  quota(body: unknown, options?: SendOptions): Promise<Answer>
  /** The paths as they are, for bodies that are no JSON and for other verbs. */
  readonly paths: { readonly execute: Endpoint; readonly quota: Endpoint }
}

export function createRelayTarget(execute: Endpoint, quota: Endpoint): RelayTarget {
  return {
    execute: (body, options) => execute.send(body, { once: true, ...options }),
    quota: (body, options) => quota.send(body, options),
    paths: { execute, quota },
  }
}
