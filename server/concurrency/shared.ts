/**
 * Does work once for all callers that ask while it is under way, and keeps the result for a while. A failure is told to
 * those callers, and is not kept.
 *
 * @param keptMs for how long, from the beginning of the work
 */
export function shared<Given extends unknown[], Result>(
  keptMs: number,
  work: (...given: Given) => Promise<Result>,
): (...given: Given) => Promise<Result> {
  let begunMs = -Infinity
  let latest: Promise<Result> | undefined
  let isUnderWay = false
  return (...given) => {
    if (latest && (isUnderWay || performance.now() - begunMs < keptMs)) return latest
    begunMs = performance.now()
    isUnderWay = true
    latest = work(...given)
      .catch((error: unknown) => {
        latest = undefined
        throw error
      })
      .finally(() => (isUnderWay = false))
    return latest
  }
}
