import { setTimeout as delay } from 'node:timers/promises'

/** Waits between attempts: blocks arrive at two nodes some seconds apart. */
const waitsMs = [200, 400, 800, 1600, 3000]

/**
 * Makes an attempt again, after growing waits of 6 s in all, until it is right: what is behind for a moment is not
 * wrong. A right answer at the first attempt costs no wait.
 *
 * @returns the last attempt, right or not
 */
export async function eventually<T>(attempt: () => Promise<T>, isRight: (value: T) => boolean): Promise<T> {
  let value = await attempt()
  for (const waitMs of waitsMs) {
    if (isRight(value)) return value
    await delay(waitMs)
    value = await attempt()
  }
  return value
}
