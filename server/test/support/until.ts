import { setTimeout as sleep } from 'node:timers/promises'

/** So long takes nothing that goes well, however busy the machine is. */
const PATIENCE_MS = 60_000

/** Waits until a condition holds. @throws Error when it does not within a minute */
export async function until(condition: () => boolean | Promise<boolean>): Promise<void> {
  const end = performance.now() + PATIENCE_MS
  while (!(await condition())) {
    if (performance.now() > end) throw new Error(`not within ${PATIENCE_MS} ms: ${condition.toString()}`)
    await sleep(20)
  }
}
