import { setTimeout as sleep } from 'node:timers/promises'

/** Waits until a condition holds. @throws Error when it does not within `deadlineMs` */
export async function until(condition: () => boolean | Promise<boolean>, deadlineMs = 5_000): Promise<void> {
  const end = Date.now() + deadlineMs
  while (!(await condition())) {
    if (Date.now() > end) throw new Error(`not within ${deadlineMs} ms: ${condition.toString()}`)
    await sleep(20)
  }
}
