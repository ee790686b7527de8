/** One valid message of POST /quota with a timestamp; all times in Unix seconds of our clock. */
export interface Probe {
  readonly timestamp: number
  readonly isServed: boolean
  /** The target looked at the timestamp between these two. */
  readonly sentAt: number
  readonly receivedAt: number
}

/** The accepted timestamps. */
export interface QuotaWindow<P extends Probe = Probe> {
  /** The width lies between these two, whatever the target's clock shows, in seconds. */
  readonly leastWidth: number
  readonly mostWidth: number
  /** The middle of the window before or after our time, in seconds; undefined when an end was not found. */
  readonly middle: number | undefined
  /** The farthest that were served. */
  readonly earliest: P
  readonly latest: P
  /** The nearest that were refused, if any. */
  readonly tooEarly: P | undefined
  readonly tooLate: P | undefined
}

/** What a window of so many seconds to each side may measure, rounding to whole seconds included. */
export function allowedWidth(halfSeconds: number): { readonly least: number; readonly most: number } {
  // `< 5` of whole seconds reaches over 9 s, and a difference cut to whole seconds over 12; half a second is for machines
  // whose clocks differ a little.
  return { least: 2 * halfSeconds - 1.5, most: 2 * halfSeconds + 2.5 }
}

/** Where an end is not found any more, as a multiple of half of the documented width, and in seconds. */
const farthestFactor = 3
const farthestSeconds = 128

/**
 * Looks for both ends of the accepted window.
 *
 * @param ask sends a message with a timestamp so many seconds from the target's supposed now
 * @param first one that was served, with its distance from the supposed now
 * @param halfSeconds where the ends should be
 */
export async function measureWindow<P extends Probe>(
  ask: (offsetSeconds: number) => Promise<P>,
  first: P,
  halfSeconds: number,
): Promise<QuotaWindow<P>> {
  const probes: P[] = [first]
  const limit = Math.max(farthestFactor * halfSeconds, farthestSeconds)
  const serves = async (offset: number): Promise<boolean> => {
    const probe = await ask(offset)
    probes.push(probe)
    return probe.isServed
  }
  for (const direction of [1, -1] as const) await reach((distance) => serves(direction * distance), halfSeconds, limit)
  return windowOf(probes, first)
}

/** Asks until the last served distance and the first refused one are neighbours, or `limit` is served. */
async function reach(serves: (distance: number) => Promise<boolean>, start: number, limit: number): Promise<void> {
  let [inside, outside] = [0, start]
  if (await serves(start)) {
    let step = 1
    for (inside = start, outside = start + 1; await serves(outside); outside = inside + step) {
      inside = outside
      if (inside >= limit) return
      step *= 2
    }
  }
  while (outside - inside > 1) {
    const middle = Math.floor((inside + outside) / 2)
    if (await serves(middle)) inside = middle
    else outside = middle
  }
}

/** The window in what was asked: an end lies between the farthest served and the nearest refused timestamp. */
export function windowOf<P extends Probe>(probes: readonly P[], first: P): QuotaWindow<P> {
  const early = ({ timestamp, sentAt }: P): number => timestamp - sentAt
  const late = ({ timestamp, receivedAt }: P): number => timestamp - receivedAt
  const served = probes.filter(({ isServed }) => isServed)
  const refused = probes.filter(({ isServed }) => !isServed)
  const middleOfFirst = (early(first) + late(first)) / 2
  const above = refused.filter((probe) => early(probe) > middleOfFirst).sort((a, b) => early(a) - early(b))
  const below = refused.filter((probe) => late(probe) < middleOfFirst).sort((a, b) => late(b) - late(a))
  const latest = served.reduce((a, b) => (late(b) > late(a) ? b : a), first)
  const earliest = served.reduce((a, b) => (early(b) < early(a) ? b : a), first)
  const [tooLate] = above
  const [tooEarly] = below
  const isWhole = tooLate !== undefined && tooEarly !== undefined
  return {
    leastWidth: late(latest) - early(earliest),
    mostWidth: isWhole ? early(tooLate) - late(tooEarly) : Infinity,
    middle: isWhole ? (late(latest) + early(tooLate) + early(earliest) + late(tooEarly)) / 4 : undefined,
    earliest,
    latest,
    tooEarly,
    tooLate,
  }
}
