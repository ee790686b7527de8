import { writeFileSync } from 'node:fs'
import { relative } from 'node:path'
import Mocha from 'mocha'

/** What `npm test` wants to know of a run of mocha. */
export interface TestCounts {
  readonly passed: number
  readonly failed: number
}

/** How many of the slowest tests, and of the slowest files, are named at the end. */
const NAMED = 12

/** The items that took longest, the longest first, one in a line. */
function slowest(msByName: ReadonlyMap<string, number>): string {
  const times = [...msByName].sort(([, a], [, b]) => b - a).slice(0, NAMED)
  return times.map(([name, ms]) => `  ${(ms / 1000).toFixed(1)} s  ${name}`).join('\n')
}

/**
 * Mocha's dots, the slowest tests and files (their hooks included), the skipped tests, and the counts as JSON into the
 * file that the reporter option `counts` names; of a run that was interrupted, nothing.
 */
export default class CountingReporter extends Mocha.reporters.Dot {
  constructor(runner: Mocha.Runner, options: Mocha.MochaOptions) {
    super(runner, options)
    const { counts } = options.reporterOptions as { counts: string }
    const { EVENT_TEST_END, EVENT_TEST_PENDING, EVENT_HOOK_END, EVENT_RUN_END } = Mocha.Runner.constants
    const [tests, files, skipped] = [new Map<string, number>(), new Map<string, number>(), [] as string[]]
    const noteFile = ({ duration = 0, file = '' }: Mocha.Runnable) => {
      const path = relative(process.cwd(), file)
      files.set(path, (files.get(path) ?? 0) + duration)
    }
    runner.on(EVENT_HOOK_END, noteFile)
    runner.on(EVENT_TEST_END, noteFile)
    runner.on(EVENT_TEST_END, (test) => tests.set(test.fullTitle(), test.duration ?? 0))
    runner.on(EVENT_TEST_PENDING, (test) => skipped.push(test.fullTitle()))
    // Mocha ends an interrupted run as if it were whole.
    let isInterrupted = false
    process.once('SIGINT', () => (isInterrupted = true))
    runner.once(EVENT_RUN_END, () => {
      if (isInterrupted) return
      const { passes, failures } = this.stats
      console.log(`  slowest tests:\n${slowest(tests)}\n  slowest files:\n${slowest(files)}`)
      if (skipped.length > 0)
        console.log(`  ${skipped.length} skipped:\n${skipped.map((title) => `  ${title}`).join('\n')}`)
      writeFileSync(counts, JSON.stringify({ passed: passes, failed: failures } satisfies TestCounts))
    })
  }
}
