import type { CheckContext } from '../context.ts'

/** Farther away than this no accepted second is looked for. */
const farthestSeconds = 120
/** Less than the width of the documented window of 10 s. */
const strideSeconds = 8
/** Wider windows than this tell nothing of the clock. */
const widestSeconds = 40

type Accepts = (timestamp: number) => Promise<boolean>

/**
 * How far the accepted seconds reach from an accepted one, in one direction.
 * @returns seconds, up to `limit`
 */
export async function reach(accepts: Accepts, from: number, direction: 1 | -1, limit: number): Promise<number> {
  let inside = 0
  let outside = 1
  while (outside <= limit && (await accepts(from + direction * outside))) {
    inside = outside
    outside *= 2
  }
  if (outside > limit) {
    if (await accepts(from + direction * limit)) return limit
    outside = limit
  }
  while (outside - inside > 1) {
    const middle = Math.floor((inside + outside) / 2)
    if (await accepts(from + direction * middle)) inside = middle
    else outside = middle
  }
  return inside
}

/**
 * For a target that sends no `Date` header: finds an accepted second, then both ends of the accepted window, and takes
 * its middle for the target's now. Where nothing is accepted, or everything is, our own clock stays.
 */
export async function setClock(t: CheckContext, accepts: Accepts): Promise<void> {
  if (t.clock.measuredBy !== null) return
  const now = t.clock.now()
  let accepted: number | undefined
  for (let away = 0; away <= farthestSeconds && accepted === undefined; away += strideSeconds) {
    for (const timestamp of away === 0 ? [now] : [now - away, now + away]) {
      if (accepted === undefined && (await accepts(timestamp))) accepted = timestamp
    }
  }
  if (accepted === undefined) return
  // The window moves on while it is measured.
  const elapsed = (): number => t.clock.now() - now
  const moving: Accepts = (timestamp) => accepts(timestamp + elapsed())
  const ahead = await reach(moving, accepted, 1, widestSeconds)
  const behind = await reach(moving, accepted, -1, widestSeconds)
  if (ahead < widestSeconds && behind < widestSeconds) {
    t.clock.set(accepted - now + (ahead - behind) / 2)
  }
}
