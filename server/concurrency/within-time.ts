/**
 * Waits for work until a moment at the latest. The work itself runs on, and its result is dropped.
 *
 * @param deadlineMs on the clock of `performance.now()`
 * @param late what to throw when the time is over first
 */
export function withinTime<T>(work: Promise<T>, deadlineMs: number, late: () => Error): Promise<T> {
  return new Promise((resolve, reject) => {
    // A timer may fire a fraction of a millisecond early. The time is rounded up, so that the clock agrees that it is
    // over.
    const timer = setTimeout(() => reject(late()), Math.max(0, Math.ceil(deadlineMs - performance.now()) + 1))
    work.then(
      (value) => {
        clearTimeout(timer)
        resolve(value)
      },
      (error: Error) => {
        clearTimeout(timer)
        reject(error)
      },
    )
  })
}
