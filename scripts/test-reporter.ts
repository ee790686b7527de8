import { writeFileSync } from 'node:fs'
import Mocha from 'mocha'

/** What `npm test` wants to know of a run of mocha. */
export interface TestCounts {
  readonly passed: number
  readonly failed: number
}

/** How many of the slowest tests are named at the end. */
const NAMED = 8

/** Mocha's dots, the slowest tests, and its counts as JSON into the file that the reporter option `counts` names. */
export default class CountingReporter extends Mocha.reporters.Dot {
  constructor(runner: Mocha.Runner, options: Mocha.MochaOptions) {
    super(runner, options)
    const { counts } = options.reporterOptions as { counts: string }
    const times: [ms: number, title: string][] = []
    const note = (test: Mocha.Test) => times.push([test.duration ?? 0, test.fullTitle()])
    runner.on(Mocha.Runner.constants.EVENT_TEST_PASS, note)
    runner.on(Mocha.Runner.constants.EVENT_TEST_FAIL, note)
    runner.once(Mocha.Runner.constants.EVENT_RUN_END, () => {
      const { passes, failures } = this.stats
      const slowest = times.sort(([a], [b]) => b - a).slice(0, NAMED)
      console.log(`  slowest:\n${slowest.map(([ms, title]) => `  ${(ms / 1000).toFixed(1)} s  ${title}`).join('\n')}`)
      writeFileSync(counts, JSON.stringify({ passed: passes, failed: failures } satisfies TestCounts))
    })
  }
}
