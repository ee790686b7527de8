import { Command } from 'commander'
import { existsSync } from 'node:fs'
import { type Fixture, readFixture } from '../conformance/lib/fixture.ts'
import { UsageError } from '../conformance/lib/outcome.ts'
import { redactUrl } from '../conformance/lib/redact.ts'
import { signedCall, signedQuota } from '../testbed/fixture.ts'
import { reasonOf } from './funder.ts'
import { parseCommand } from './parse-command.ts'

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
  const { fixture: file } = command.opts<{ fixture: string }>()
  if (!existsSync(file)) {
    throw new UsageError(`sign: there is no ${file}: start the testbed first, or name another --fixture`)
  }
  const fixture = await readFixture(file)
  const [endpoint] = command.args
  if (endpoint === 'quota') console.log(JSON.stringify(signedQuota(fixture)))
  else if (endpoint === 'execute') console.log(JSON.stringify(await signedCallOf(fixture)))
  else throw new UsageError(`sign: '${endpoint}' is neither execute nor quota`)
  return 0
}

/** @throws UsageError the fixture's node does not tell the next nonce */
async function signedCallOf(fixture: Fixture): Promise<object> {
  try {
    return await signedCall(fixture)
  } catch (cause) {
    throw new UsageError(`sign: ${redactUrl(fixture.chain.rpcUrl)} does not tell the next nonce (${reasonOf(cause)})`, {
      cause,
    })
  }
}
