import { run as runCheck } from '../conformance/cli.ts'
import { withPackages } from './needed-packages.ts'

/**
 * The command `check`: the conformance suite, and a testbed for it when no URL is given.
 *
 * @returns the exit code of the suite
 */
export function run(argv: readonly string[]): Promise<number> {
  // Loaded when it is needed, because it imports the whole server.
  const load = () => import('../testbed/testbed.ts')
  return runCheck(argv, {
    startTestbed: async (config) =>
      (await withPackages('check without a URL', ['server', 'chain'], load)).startTestbed({ config }),
  })
}
