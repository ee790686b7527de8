import { Command } from 'commander'
import { isAddress } from 'ethers'
import { existsSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { buffer } from 'node:stream/consumers'
import { explainClause } from '../conformance/clauses-cli.ts'
import { readFixture } from '../conformance/lib/fixture.ts'
import { UsageError } from '../conformance/lib/outcome.ts'
import type { KnownOfProfile } from './explain-body.ts'
import { withPackages } from './needed-packages.ts'
import { parseCommand } from './parse-command.ts'

interface Options {
  readonly fixture?: string
  readonly keyManager?: string
  readonly chainId?: string
  readonly controller: readonly string[]
}

const help = `
Examples:
  touchstone explain relay.quota.unit
  touchstone explain body.json --fixture .touchstone/testbed.json
  touchstone explain body.json --key-manager 0x… --chain-id 42 --controller 0x…

Exit codes:
  0  explained; nothing wrong was found in the body
  1  a relay refuses the body
  2  wrong usage, or no clause has this name
`

/**
 * The command `explain`: what a clause asks, or what is wrong with a request body, which is found out offline.
 *
 * @returns the exit code: 0, 1 when a relay refuses the body, 2 for wrong usage
 */
export async function run(argv: readonly string[]): Promise<number> {
  const command = new Command('touchstone explain')
    .description('what a clause asks, and what passes and fails it; or what is wrong with a request body')
    .argument(
      '<what>',
      'id of a clause, or a file with the body of POST /execute or POST /quota (- reads it from stdin)',
    )
    .option('--fixture <file>', 'profile, chain and controllers, as provision writes them')
    .option('--key-manager <address>', 'owner of the profile')
    .option('--chain-id <number>', 'id of the profile’s chain')
    .option('--controller <address>', 'who should have signed (repeatable)', gather, [])
    .addHelpText('after', help)
  const exitCode = parseCommand(command, argv)
  if (exitCode !== undefined) return exitCode
  const [what = ''] = command.args
  if (what !== '-' && !existsSync(what)) {
    process.stdout.write(await explainClause(what))
    return 0
  }
  const { explainBody } = await withPackages('explain <body>', ['server'], () => import('./explain-body.ts'))
  const known = await knownFrom(command.opts<Options>())
  const { endpoint, facts, mistakes } = explainBody(await readBody(what), known)
  const lines = [...facts, ...mistakes.map((mistake) => ['mistake', mistake] as const)]
  console.log([endpoint, ...lines.map(([label, text]) => `  ${label.padEnd(10)}${text}`)].join('\n'))
  return mistakes.length === 0 ? 0 : 1
}

const gather = (value: string, before: readonly string[]) => [...before, value]

async function readBody(file: string): Promise<Uint8Array> {
  if (file === '-') return buffer(process.stdin)
  try {
    return await readFile(file)
  } catch (cause) {
    throw new UsageError(`explain: ${file} cannot be read: ${(cause as Error).message}`, { cause })
  }
}

/** @throws UsageError */
async function knownFrom({ fixture: file, keyManager, chainId, controller }: Options): Promise<KnownOfProfile> {
  const fixture = file === undefined ? undefined : await readFixture(file)
  const wrong = [...controller, keyManager].find((address) => address !== undefined && !isAddress(address))
  if (wrong !== undefined) throw new UsageError(`explain: '${String(wrong)}' is no address`)
  if (chainId !== undefined && !/^[1-9]\d{0,17}$/.test(chainId)) {
    throw new UsageError(`explain: --chain-id '${chainId}' is no positive integer`)
  }
  const named = Object.entries(fixture?.controllers ?? {}).map(
    ([name, { address }]) => [address.toLowerCase(), `controller '${name}' of the fixture`] as const,
  )
  const id = chainId ?? fixture?.chain.chainId
  const manager = keyManager ?? fixture?.profile.keyManager
  return {
    ...(id !== undefined && { chainId: BigInt(id) }),
    ...(manager !== undefined && { keyManager: manager }),
    controllers: new Map([
      ...named,
      ...controller.map((address) => [address.toLowerCase(), 'the given controller'] as const),
    ]),
  }
}
