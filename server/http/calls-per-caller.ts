import { KeyedSemaphore } from '../concurrency/keyed-semaphore.ts'
import { ServiceError } from '../core/errors.ts'
import type { RpcMethod } from './json-rpc-call.ts'
import { clientAddress } from './rate-limit.ts'

interface CallsPerCallerOptions {
  readonly concurrentCalls: number
  readonly trustedProxies: number
  /** A call that has waited for longer has been answered by an error, and is not made. */
  readonly answerMs: number
}

/** Lets each address have so many calls at a time, so that who sends hundreds makes nobody else wait. */
export function callsPerCaller(
  handle: RpcMethod['handle'],
  { concurrentCalls, trustedProxies, answerMs }: CallsPerCallerOptions,
): RpcMethod['handle'] {
  const callers = new KeyedSemaphore(concurrentCalls)
  return (params, context) => {
    const cameMs = performance.now()
    return callers.run(clientAddress(context.request, trustedProxies), async () => {
      if (context.response.closed || performance.now() - cameMs >= answerMs) throw unheard()
      return handle(params, context)
    })
  }
}

/** Nobody reads this answer. */
const unheard = () =>
  new ServiceError('UPSTREAM_UNAVAILABLE', 'the call had to wait too long', { retryAfterSeconds: 1 })
