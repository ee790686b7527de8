import { connect } from 'node:net'
import type { ClauseId } from '../../specs/index.ts'
import { type Answer, isHungUp } from './answer.ts'
import { Fault, Untestable } from './outcome.ts'
import type { Exchange } from './report-types.ts'
import { delay, ourTimeMs, outside } from './world.ts'

/** What all checks of the run know of one host. */
export interface HostState {
  /** The last request that the run sent to the host: verb and path. */
  last?: string
  /**
   * Set when nobody listens at the host any more: the request after which, the clause that fails by it, if any, and whether
   * the run has waited in vain for somebody to listen again.
   */
  death?: { readonly after: string; readonly of?: ClauseId | undefined; isFinal: boolean }
}

const connectTimeoutMs = 2000
const pauseMs = 100
/** A process that ends closes its connections before its port, so the port is looked at this many times. */
const looks = 3

/** Whether the host of the URL takes a TCP connection at the port. */
function listens(url: URL): Promise<boolean> {
  return outside(`connect ${url.host}`, () => connects(url))
}

function connects(url: URL): Promise<boolean> {
  const port = url.port === '' ? (url.protocol === 'https:' ? 443 : 80) : Number(url.port)
  const socket = connect({ host: url.hostname.replace(/^\[|\]$/g, ''), port, timeout: connectTimeoutMs })
  return new Promise((resolve) => {
    const end = (found: boolean) => {
      socket.destroy()
      resolve(found)
    }
    socket.once('connect', () => end(true))
    socket.once('error', () => end(false))
    socket.once('timeout', () => end(false))
  })
}

/** Whether nobody listens at the URL any more, shortly after the target closed a connection without an answer. */
async function hasDied(url: string): Promise<boolean> {
  for (let look = 0; look < looks; look++) {
    if (await listens(new URL(url))) return false
    await delay(pauseMs)
  }
  return true
}

/**
 * Waits until somebody listens at the URL again.
 *
 * @returns false when nobody listens within `timeoutMs`
 */
export async function isBack(url: string, timeoutMs: number): Promise<boolean> {
  const deadline = ourTimeMs() + timeoutMs
  while (!(await listens(new URL(url)))) {
    if (ourTimeMs() >= deadline) return false
    await delay(pauseMs)
  }
  return true
}

/**
 * Tells a death from a refusal: a target may close a connection to refuse. When nobody listens afterwards, the
 * target has died.
 */
export async function withDeath(answer: Answer, url: string): Promise<Answer> {
  if (!isHungUp(answer) || !(await hasDied(url))) return answer
  const failure = { kind: 'died', message: 'the target closed the connection and no longer listens' } as const
  return { ...answer, failure, exchange: { ...answer.exchange, failure } }
}

/** Verb and path of a request. */
export function nameOf({ request }: Exchange): string {
  return `${request.method} ${new URL(request.url).pathname}`
}

/**
 * @param owedBy the clause that promised an answer
 * @param isFinal whether the run has waited in vain for somebody to listen again
 * @throws Fault of that clause, when the target died of the request
 */
export function noticeDeath(host: HostState, answer: Answer, owedBy: ClauseId | undefined, isFinal: boolean): void {
  // The target listened when the run began. So a refused connection says that the target died before this request.
  if (answer.failure?.kind === 'refused') {
    host.death ??= { after: host.last ?? 'the first requests', isFinal: false }
  }
  if (answer.failure?.kind !== 'died') return
  host.death = { after: nameOf(answer.exchange), of: owedBy, isFinal }
  if (owedBy === undefined) return
  throw new Fault('the target stopped answering after this valid request', {
    expected: 'an answer, and a service that goes on listening',
    actual: answer.failure.message,
    answer,
    of: owedBy,
  })
}

/** @throws Untestable when the target has died, and nobody listens there again in time */
export async function requireAlive(host: HostState, url: string, restartMs: number): Promise<void> {
  const { death } = host
  if (!death) return
  if (!death.isFinal && (await isBack(url, restartMs))) {
    delete host.death
    return
  }
  death.isFinal = true
  const because = death.of === undefined ? {} : { because: death.of }
  throw new Untestable(`not asked: the target stopped answering after ${death.after}`, because)
}
