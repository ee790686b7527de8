import { setTimeout as delay } from 'node:timers/promises'
import type { CheckContext } from '../context.ts'

/** Waits between attempts: blocks arrive at two nodes some seconds apart. */
const waitsMs = [200, 400, 800, 1600, 3000]
/** After all of them were in vain once, others are waited for less: a target that is wrong in everything ends in time. */
const shorterWaits = 3

/**
 * Makes an attempt again, after growing waits of 6 s in all, until it is right: what is behind for a moment is not
 * wrong. A right answer at the first attempt costs no wait.
 *
 * @returns the last attempt, right or not
 */
export async function eventually<T>(
  t: CheckContext,
  attempt: () => Promise<T>,
  isRight: (value: T) => boolean,
): Promise<T> {
  const patience = await t.once('eth-rpc.patience', async () => ({ waits: waitsMs.length }))
  let value = await attempt()
  for (const waitMs of waitsMs.slice(0, patience.waits)) {
    if (isRight(value)) return value
    await delay(waitMs)
    value = await attempt()
  }
  if (!isRight(value)) patience.waits = shorterWaits
  return value
}
