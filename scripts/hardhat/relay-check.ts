import type { NewTaskActionFunction } from 'hardhat/types/tasks'
import { run } from '../../conformance/cli.ts'
import { startRelay } from './start-relay.ts'

interface Arguments {
  readonly only: string | undefined
  /** `<format>=<file>`, separated by commas. */
  readonly report: string | undefined
  /** Packages or paths, separated by commas. */
  readonly suite: string | undefined
}

/** The task `relay:check`. Its exit code is that of the command `check`. */
const relayCheck: NewTaskActionFunction<Arguments> = async ({ only, report, suite }, hre) => {
  const reports = report?.split(',') ?? []
  const argv = [
    ...(only === undefined ? [] : ['--only', only]),
    ...reports.flatMap((output) => ['--report', output]),
    ...(suite?.split(',') ?? []).flatMap((source) => ['--suite', source]),
  ]
  const exitCode = await run(argv, { startTestbed: (config) => startRelay(hre, { port: 0, config }) })
  if (exitCode !== 0) process.exitCode = exitCode
  return exitCode
}

export default relayCheck
