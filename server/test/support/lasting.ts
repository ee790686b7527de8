import { expect } from 'chai'

const STEP_MS = 20

/**
 * Does some work, and asserts how long it takes, in milliseconds. Of the time in which this process got no core nothing counts
 * against the work: machines are shared.
 *
 * @throws AssertionError it takes less than `leastMs`, or more than `mostMs`
 */
export async function lasting<Result>(
  [leastMs, mostMs]: readonly [leastMs: number, mostMs: number],
  work: () => Promise<Result>,
): Promise<Result> {
  const begunMs = performance.now()
  let ownMs = 0
  let [lastMs, lastCpu] = [begunMs, process.cpuUsage()]
  const count = () => {
    const { user, system } = process.cpuUsage(lastCpu)
    const nowMs = performance.now()
    // A timer comes late because this process was at work, or because another one was.
    ownMs += Math.min(nowMs - lastMs, STEP_MS + (user + system) / 1000)
    ;[lastMs, lastCpu] = [nowMs, process.cpuUsage()]
  }
  const timer = setInterval(count, STEP_MS)
  try {
    const result = await work()
    count()
    expect(performance.now() - begunMs, 'time in milliseconds').to.be.at.least(leastMs)
    expect(ownMs, 'time in milliseconds, as far as this process had a core').to.be.at.most(mostMs)
    return result
  } finally {
    clearInterval(timer)
  }
}
