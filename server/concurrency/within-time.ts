import { afterThisTurn } from './after-this-turn.ts'

/**
 * Waits for work until a moment at the latest. The work itself runs on, and its result is dropped.
 *
 * @param deadlineMs on the clock of `performance.now()`
 * @param late what to throw when the time is over first
 */
export function withinTime<T>(work: Promise<T>, deadlineMs: number, late: () => Error): Promise<T> {
  return new Promise((resolve, reject) => {
    let isSettled = false
    let timer: NodeJS.Timeout | undefined
    const settle = () => {
      isSettled = true
      clearTimeout(timer)
    }
    work.then(
      (value) => {
        settle()
        resolve(value)
      },
      (error: Error) => {
        settle()
        reject(error)
      },
    )
    afterThisTurn(() => {
      if (isSettled) return
      // A timer may fire a fraction of a millisecond early. The time is rounded up, so that the clock agrees that it is
      // over.
      timer = setTimeout(() => reject(late()), Math.max(0, Math.ceil(deadlineMs - performance.now()) + 1))
    })
  })
}
