/**
 * A valid message of POST /quota that was sent with a timestamp. All times are Unix seconds by the clock of this
 * machine.
 */
export interface Probe {
  readonly timestamp: number
  readonly toldQuota: boolean
  /** The target read the timestamp between `sentAt` and `receivedAt`. */
  readonly sentAt: number
  readonly receivedAt: number
}

/** The timestamps that a target accepts. */
export interface QuotaWindow<P extends Probe = Probe> {
  /**
   * The least and the most that the width of the window may be, in seconds. The target's clock does not matter for
   * it.
   */
  readonly leastWidth: number
  readonly mostWidth: number
  /** The middle of the window minus the time of this machine, in seconds; undefined when an end was not found. */
  readonly middle: number | undefined
  /** The farthest messages that the target served. */
  readonly earliest: P
  readonly latest: P
  /** The nearest messages that the target refused, if any. */
  readonly tooEarly: P | undefined
  readonly tooLate: P | undefined
  /** All messages that show the window. */
  readonly probes: readonly P[]
}

/** The width that a window of this half may show in a measurement, with rounding to whole seconds. */
export function allowedWidth(halfSeconds: number): { readonly least: number; readonly most: number } {
  // A target that compares whole seconds with `< 5` shows 9 s. A target that cuts the difference to whole seconds shows
  // 12 s. Half a second is for machines whose clocks differ a little.
  return { least: 2 * halfSeconds - 1.5, most: 2 * halfSeconds + 2.5 }
}

/** Whether the window is narrower than one of this half may be. */
export function isNarrow({ mostWidth }: QuotaWindow, halfSeconds: number): boolean {
  return mostWidth < allowedWidth(halfSeconds).least
}

/** The search for an end stops at the larger of these: a multiple of the documented half, and a number of seconds. */
const farthestFactor = 3
const farthestSeconds = 128

/** How a measurement sends its messages. */
export interface Asking<P extends Probe> {
  /**
   * Sends a message whose timestamp is the whole second at or before this distance from the target's supposed time.
   */
  readonly ask: (awaySeconds: number) => Promise<P>
  /** Waits until the second at this distance has just begun. */
  readonly untilWhole: (awaySeconds: number) => Promise<void>
  /** The target's supposed time minus the time of this machine, in seconds. */
  readonly supposedOffset: number
}

/** How often the search looks between two timestamps, which takes up to a second each. */
const refinements = 4

/**
 * Measures both ends of the accepted window, for targets that serve a message twice.
 *
 * @param first a message near the supposed time that the target served
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
  // Between two whole seconds lies one second of doubt at each end. That may hide a window that is too wide.
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

/** Searches until the last served distance and the first refused one are neighbours, or until `limit` is served. */
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
 * Measures both ends with timestamps that only rise, for targets that take no message twice, or none that is older
 * than the last. The search begins before the window and ends after it. It finds an end only roughly when the end is
 * more than some seconds off.
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

/** How many seconds after a message the earliest message of `measureRising` is newer than it. */
export function risingAfterSeconds(halfSeconds: number): number {
  return halfSeconds + 5
}

/**
 * Tests the refusals again that make a window narrow, since a target may limit how often it serves, and not say so.
 *
 * @param asking where `ask` sends a message for exactly this distance, and makes sure that a refusal is about the timestamp
 * @param first as in the measurement
 */
export async function testNarrow<P extends Probe>(
  { ask, supposedOffset }: Pick<Asking<P>, 'ask' | 'supposedOffset'>,
  measured: QuotaWindow<P>,
  first: P,
  halfSeconds: number,
): Promise<QuotaWindow<P>> {
  const tested = new Set<P>()
  let window = measured
  while (isNarrow(window, halfSeconds)) {
    const refused = [window.tooEarly, window.tooLate].find((probe) => probe && !tested.has(probe))
    if (!refused) break
    const again = await ask(early(refused) - supposedOffset)
    tested.add(again)
    window = windowOf([...window.probes.filter((probe) => probe !== refused), again], first)
  }
  return window
}

/** How far the timestamp was ahead of the time of this machine when the request was sent, and when the answer came. */
const early = ({ timestamp, sentAt }: Probe): number => timestamp - sentAt
const late = ({ timestamp, receivedAt }: Probe): number => timestamp - receivedAt

/** The window that these messages show. An end lies between the farthest served and the nearest refused timestamp. */
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
    probes,
  }
}
