import { Command } from 'commander'
import { parseCommand } from './parse-command.ts'
import type { Fixture } from '../contracts/deploy/fixture.ts'
import { UsageError } from '../conformance/lib/outcome.ts'
import { signedCall, signedQuota } from '../testbed/fixture.ts'
import { readFile } from 'node:fs/promises'

/**
 * The command `sign`: prints a signed body for `POST /execute` or `POST /quota`, made with the keys of a fixture, so that
 * a relay can be tried with curl.
 *
 * @returns the exit code: 0, or 2 for wrong usage
 */
export async function run(argv: readonly string[]): Promise<number> {
  const command = new Command('touchstone sign')
    .description('prints a signed body for POST /execute or POST /quota, to try a relay with curl')
    .argument('<endpoint>', 'execute or quota')
    .option('--fixture <file>', 'profile and keys', '.touchstone/testbed.json')
  const exitCode = parseCommand(command, argv)
  if (exitCode !== undefined) return exitCode
  const fixture = await readFixture(command.opts<{ fixture: string }>().fixture)
  const [endpoint] = command.args
  if (endpoint === 'quota') console.log(JSON.stringify(signedQuota(fixture)))
  else if (endpoint === 'execute') console.log(JSON.stringify(await signedCall(fixture)))
  else throw new UsageError(`sign: '${endpoint}' is neither execute nor quota`)
  return 0
}

async function readFixture(file: string): Promise<Fixture> {
  try {
    return JSON.parse(await readFile(file, 'utf8')) as Fixture
  } catch (cause) {
    throw new UsageError(`sign: ${file} cannot be read: start the testbed first, or name another --fixture`, { cause })
  }
}
