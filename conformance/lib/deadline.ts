/** The time is counted in so many parts. */
const parts = 4
/** A timer that is set for longer ends at once. */
export const longestTimerMs = 2 ** 31 - 1

/**
 * Does some work that has so much time, by an AbortSignal with a TimeoutError. A part of the time in which this process
 * stood still is not counted: a machine that was suspended, or had no core to spare, proves nothing about who has to answer.
 * What has arrived meanwhile is read before the signal aborts.
 */
export async function withDeadline<T>(ms: number, work: (signal: AbortSignal) => Promise<T>): Promise<T> {
  const controller = new AbortController()
  const end = () => controller.abort(new DOMException(`not within ${ms} ms`, 'TimeoutError'))
  const partMs = Math.min(ms / parts, longestTimerMs)
  let timer: NodeJS.Timeout
  const wait = (left: number) => {
    const dueMs = performance.now() + partMs
    timer = setTimeout(() => {
      const stoodStill = performance.now() > dueMs + partMs / 2
      if (stoodStill) wait(left)
      else if (left > 1) wait(left - 1)
      else setImmediate(end)
    }, partMs)
  }
  wait(parts)
  return work(controller.signal).finally(() => clearTimeout(timer))
}
