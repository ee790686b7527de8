/**
 * Work that is done once for all who ask while it is under way, and for a while from its beginning on. A failure is told to
 * them, and not kept.
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
