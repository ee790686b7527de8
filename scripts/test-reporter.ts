import { writeFileSync } from 'node:fs'
import Mocha from 'mocha'

/** What `npm test` wants to know of a run of mocha. */
export interface TestCounts {
  readonly passed: number
  readonly failed: number
}

/** Mocha's dots, and its counts as JSON into the file that the reporter option `counts` names. */
export default class CountingReporter extends Mocha.reporters.Dot {
  constructor(runner: Mocha.Runner, options: Mocha.MochaOptions) {
    super(runner, options)
    const { counts } = options.reporterOptions as { counts: string }
    runner.once(Mocha.Runner.constants.EVENT_RUN_END, () => {
      const { passes, failures } = this.stats
      writeFileSync(counts, JSON.stringify({ passed: passes, failed: failures } satisfies TestCounts))
    })
  }
}
