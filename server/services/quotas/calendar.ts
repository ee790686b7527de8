/** How often an allowance is given anew. */
export type Period = 'day' | 'week' | 'month'

export const periods: readonly Period[] = ['day', 'week', 'month']

/** Unix seconds of the next 00:00 UTC, of the next Monday's, or of that of the first of the next month. */
export function nextReset(period: Period, nowSeconds: number): bigint {
  const now = new Date(nowSeconds * 1000)
  const [year, month, day] = [now.getUTCFullYear(), now.getUTCMonth(), now.getUTCDate()]
  switch (period) {
    case 'day':
      return seconds(Date.UTC(year, month, day + 1))
    case 'week':
      // Sunday is 0: the next Monday is one day ahead of it.
      return seconds(Date.UTC(year, month, day + 7 - ((now.getUTCDay() + 6) % 7)))
    case 'month':
      return seconds(Date.UTC(year, month + 1, 1))
  }
}

const seconds = (ms: number) => BigInt(ms / 1000)
