/** A signal that comes twice within this time was sent to the process and to its group: it is one. */
const sameSignalMs = 500
const interrupts = ['SIGINT', 'SIGTERM'] as const

/**
 * Calls back at the first Ctrl-C (or SIGTERM), so that the work can be wound up; a later one ends the process at once.
 *
 * @param onFirst is called once
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
