import { spawnSync } from 'node:child_process'

/**
 * Skips what a hook or a test cannot do on this machine, which still runs the other tests.
 *
 * @throws Error in CI, which has to install what the tests need, and must not pass without it
 */
export function skip(hook: Mocha.Context, reason: string): never {
  if (process.env['CI']) throw new Error(reason)
  console.error(`skipped: ${reason}`)
  return hook.skip()
}

/** Skips where the machine lacks a program, which shows its version. @throws Error in CI */
export function skipWithout(program: string, hook: Mocha.Context): void {
  if (spawnSync(program, ['--version'], { stdio: 'ignore' }).error) skip(hook, `${program} is not installed`)
}
