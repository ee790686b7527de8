/**
 * Waits for work no longer than until a moment; the work itself runs to its end unheard.
 *
 * @param deadlineMs on the clock of `performance.now()`
 * @param late what to throw when the time is over first
 */
export function withinTime<T>(work: Promise<T>, deadlineMs: number, late: () => Error): Promise<T> {
  return new Promise((resolve, reject) => {
    // A timer may fire a part of a millisecond early: whoever looks at the clock then must find that the time is over.
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
