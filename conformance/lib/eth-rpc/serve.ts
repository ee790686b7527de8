import { setTimeout as delay } from 'node:timers/promises'
import type { ClauseId } from '../../../specs/index.ts'
import { describe, type Answer } from '../answer.ts'
import type { CheckContext } from '../context.ts'
import { isServed, memberOf } from '../expect-rpc.ts'
import { Fault } from '../outcome.ts'
import type { ListedMethod } from './listed-methods.ts'
import { brokenSentence } from './broken-sentence.ts'

/** A valid request that is refused is made again after this time: what fails for a moment has not failed. */
const secondAttemptMs = 200
/** After so many second attempts in vain, the others follow at once: a target that serves nothing ends in time. */
const patientAttempts = 10
/** So many valid requests that are refused and then served are a moment's trouble; one more is a habit. */
const forgiven = { transport: 1, error: 2 } as const

/** An answer that serves its request, and the result in it, integers beyond 2^53 as bigints. */
export interface Served {
  readonly answer: Answer
  readonly result: unknown
}

interface Refusals {
  /** Valid requests that were refused once and served the next moment, by what refused them. */
  readonly passing: { transport: number; error: number; readonly methods: Set<ListedMethod> }
  /** Second attempts in vain. */
  vain: number
  /** Requests that were served before. */
  readonly served: Set<string>
}

function refusalsOf(t: CheckContext): Promise<Refusals> {
  return t.once('eth-rpc.refusals', async () => ({
    passing: { transport: 0, error: 0, methods: new Set<ListedMethod>() },
    vain: 0,
    served: new Set<string>(),
  }))
}

/** Whether HTTP itself refuses: no state of the chain can be the reason, as for an error of JSON-RPC. */
function isOfTransport({ status, failure }: Answer): boolean {
  return failure !== undefined || status === 401 || status === 403 || (status !== undefined && status >= 500)
}

/** @throws Fault when valid requests are refused again and again: of the method, or of the endpoint when it is not one */
function notice(t: CheckContext, method: ListedMethod, refused: Answer, { passing }: Refusals): void {
  const kind = isOfTransport(refused) ? 'transport' : 'error'
  passing[kind] += 1
  passing.methods.add(method)
  t.observe(`${method} was refused once and served a moment later: ${describe(refused)}`)
  if (passing[kind] <= forgiven[kind]) return
  throw new Fault('valid requests are refused now and then', {
    expected: 'each valid request is served, as the same one is a moment later',
    actual: describe(refused),
    answer: refused,
    of: passing.methods.size > 1 ? 'eth-rpc.endpoint.post' : `eth-rpc.${method}.success`,
  })
}

/** A way to put a request that differs from the documented envelope in what one sentence allows. */
export interface Variant {
  readonly of: ClauseId
  readonly ask: () => Promise<Answer>
}

/**
 * Makes a request that the document promises to serve. One that is refused is made a second time: to refuse once is
 * told, to refuse now and then is a fault.
 *
 * @param variant absent: the documented envelope
 * @throws Fault of the sentence that the refusal contradicts
 */
export async function serve(
  t: CheckContext,
  method: ListedMethod,
  params: readonly unknown[] = [],
  variant?: Variant,
): Promise<Served> {
  const ask = variant?.ask ?? (() => t.rpc.call(method, params, { owedBy: `eth-rpc.${method}.success` }))
  const refusals = await refusalsOf(t)
  const request = `${method} ${JSON.stringify(params)}`
  const first = await ask()
  let answer = first
  if (!isServed(first)) {
    if (refusals.vain < patientAttempts) await delay(secondAttemptMs)
    answer = await ask()
    if (!isServed(answer)) {
      refusals.vain += 1
      const isPlainServed = variant !== undefined && isServed(await t.rpc.call(method, params))
      throw refused(answer, isPlainServed ? variant.of : await brokenSentence(t, method, params))
    }
    if (isOfTransport(first) || refusals.served.has(request)) notice(t, method, first, refusals)
  }
  refusals.served.add(request)
  return { answer, result: memberOf(answer, 'result') }
}

/** A valid request was refused, against the sentence that promises to serve it. */
export function refused(answer: Answer, of: ClauseId): Fault {
  return new Fault('the request was not served', {
    expected: 'a status of success with a result and no error',
    actual: describe(answer),
    answer,
    of,
  })
}
