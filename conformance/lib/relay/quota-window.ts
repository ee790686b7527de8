/** One valid message of POST /quota with a timestamp; all times in Unix seconds of our clock. */
export interface Probe {
  readonly timestamp: number
  readonly toldQuota: boolean
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

/** How messages are sent to find the ends. */
export interface Asking<P extends Probe> {
  /** Sends a message with the last whole second before so many seconds from the target's supposed now. */
  readonly ask: (awaySeconds: number) => Promise<P>
  /** Waits until that second has just begun. */
  readonly untilWhole: (awaySeconds: number) => Promise<void>
  /** The target's supposed now minus our time, in seconds. */
  readonly supposedOffset: number
}

/** So often an end is looked for between two timestamps, at the cost of up to a second each. */
const refinements = 4

/**
 * Looks for both ends of the accepted window.
 *
 * @param first one that was served, near the supposed now
 * @param halfSeconds where the ends should be
 */
export async function measureWindow<P extends Probe>(
  { ask, untilWhole, supposedOffset }: Asking<P>,
  first: P,
  halfSeconds: number,
): Promise<QuotaWindow<P>> {
  const probes: P[] = [first]
  const limit = Math.max(farthestFactor * halfSeconds, farthestSeconds)
  const serves = async (away: number): Promise<boolean> => {
    const probe = await ask(away)
    probes.push(probe)
    return probe.toldQuota
  }
  for (const direction of [1, -1] as const) await reach((distance) => serves(direction * distance), halfSeconds, limit)
  // Between two whole seconds lies a second, and twice that may hide a window that is too wide.
  const { most } = allowedWidth(halfSeconds)
  for (let count = 0; count < refinements; count++) {
    const { leastWidth, mostWidth, latest, earliest, tooLate, tooEarly } = windowOf(probes, first)
    if (leastWidth > most || mostWidth <= most || !tooLate || !tooEarly) break
    const gaps = [
      [late(latest), early(tooLate)],
      [late(tooEarly), early(earliest)],
    ] as const
    const [from, to] = gaps[0][1] - gaps[0][0] > gaps[1][1] - gaps[1][0] ? gaps[0] : gaps[1]
    const away = (from + to) / 2 - supposedOffset
    await untilWhole(away)
    await serves(away)
  }
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

/**
 * Looks for both ends by timestamps that only rise, for targets that take no message twice, or none that is older than
 * the last: from before the window on until one is served, then from within it until one is refused. Where an end lies
 * more than some seconds off, it is found coarsely.
 */
export async function measureRising<P extends Probe>(
  { ask }: Asking<P>,
  first: P,
  halfSeconds: number,
): Promise<QuotaWindow<P>> {
  const within = Math.ceil(halfSeconds / 2)
  const early = [4, 3, 2, 1, 0, -1, -2].map((beyond) => -halfSeconds - beyond).concat(-within, -1)
  const late = [within, ...[-1, 0, 1, 2, 4, 8, 24, 120].map((beyond) => halfSeconds + beyond)]
  const probes: P[] = [first]
  for (const [offsets, end] of [
    [early, true],
    [late, false],
  ] as const) {
    for (const offset of offsets) {
      const probe = await ask(offset)
      probes.push(probe)
      if (probe.toldQuota === end) break
    }
  }
  return windowOf(probes, first)
}

/** How long after a message the earliest of `measureRising` is newer than it, in seconds. */
export function risingAfterSeconds(halfSeconds: number): number {
  return halfSeconds + 5
}

/** How far a timestamp lay ahead of our time when it was sent, and when the answer was there. */
const early = ({ timestamp, sentAt }: Probe): number => timestamp - sentAt
const late = ({ timestamp, receivedAt }: Probe): number => timestamp - receivedAt

/** The window in what was asked: an end lies between the farthest served and the nearest refused timestamp. */
export function windowOf<P extends Probe>(probes: readonly P[], first: P): QuotaWindow<P> {
  const served = probes.filter(({ toldQuota: isServed }) => isServed)
  const refused = probes.filter(({ toldQuota: isServed }) => !isServed)
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
