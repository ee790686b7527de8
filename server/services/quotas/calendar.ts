/** Unix seconds of the first of the next month, 00:00 UTC. */
export function nextMonth(nowSeconds: number): bigint {
  const now = new Date(nowSeconds * 1000)
  return BigInt(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() + 1, 1) / 1000)
}
