import { run as runJudge } from '../conformance/judge-client-cli.ts'
import { withPackages } from './needed-packages.ts'

/**
 * The command `judge-client`: a relay that judges its callers, and a testbed behind it when no relay is named.
 *
 * @returns the exit code of the suite
 */
export function run(argv: readonly string[]): Promise<number> {
  // Loaded when it is needed, because it imports the whole server.
  const load = () => import('../testbed/testbed.ts')
  return runJudge(argv, {
    startTestbed: async () =>
      (await withPackages('judge-client without --relay-url', ['server', 'chain'], load)).startTestbed(),
  })
}
