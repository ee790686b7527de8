/**
 * A terminal sends a signal to the process and to its group. A second signal within this time counts as the same
 * one.
 */
const sameSignalMs = 500
const interrupts = ['SIGINT', 'SIGTERM'] as const

/**
 * Calls `onFirst` at the first Ctrl-C or SIGTERM, so that the run can end in order. A later signal ends the process
 * at once.
 *
 * @param onFirst called once
 */
export function onInterrupt(onFirst: () => void): { stop(): void } {
  let firstMs: number | undefined
  const handle = (): void => {
    if (firstMs === undefined) {
      firstMs = performance.now()
      onFirst()
    } else if (performance.now() - firstMs > sameSignalMs) process.exit(130)
  }
  for (const name of interrupts) process.on(name, handle)
  return {
    stop() {
      for (const name of interrupts) process.off(name, handle)
    },
  }
}
