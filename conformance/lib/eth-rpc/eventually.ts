import type { CheckContext } from '../clause.ts'
import { isServed, yieldsResult } from '../answer.ts'
import { Fault } from '../outcome.ts'
import { inventedMethod } from './samples.ts'
import { delay } from '../world.ts'

/** Waits between attempts. A block arrives at two nodes some seconds apart. */
const waitsMs = [200, 400, 800, 1600, 3000]
/**
 * After all waits were in vain once, later attempts wait only this often, so that a run against a broken target ends
 * in time.
 */
const shorterWaits = 3

/** How often to wait: never for a target that serves nothing, or that has a result for everything. */
async function patienceWith(t: CheckContext): Promise<{ waits: number }> {
  const serves = isServed(await t.rpc.call('eth_chainId')) && !yieldsResult(await t.rpc.call(inventedMethod))
  return { waits: serves ? waitsMs.length : 0 }
}

/**
 * Makes an attempt again until its value is right, with growing waits of 6 s in all: a target may lag for a moment.
 * A value that is right at once costs no wait.
 *
 * @returns the last value, right or not
 */
export async function eventually<T>(
  t: CheckContext,
  attempt: () => Promise<T>,
  isRight: (value: T) => boolean,
): Promise<T> {
  let value = await attempt()
  if (isRight(value)) return value
  const patience = await t.once('eth-rpc.patience', patienceWith)
  for (const waitMs of waitsMs.slice(0, patience.waits)) {
    await delay(waitMs)
    value = await attempt()
    if (isRight(value)) return value
  }
  patience.waits = Math.min(patience.waits, shorterWaits)
  return value
}

/**
 * Makes a comparison again while it fails, as `eventually` does.
 *
 * @throws Fault of the last comparison
 */
export async function inTime(t: CheckContext, compare: () => Promise<void>): Promise<void> {
  const attempt = (): Promise<Fault | undefined> =>
    compare().then(
      () => undefined,
      (error: unknown) => {
        if (error instanceof Fault) return error
        throw error
      },
    )
  const fault = await eventually(t, attempt, (found) => found === undefined)
  if (fault) throw fault
}
