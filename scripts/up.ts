import { Command } from 'commander'
import { parseCommand, parsePort, parseSeconds } from './parse-command.ts'
import { mkdir } from 'node:fs/promises'
import { constants } from 'node:os'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Testbed } from '../testbed/testbed.ts'
import { loadSuitesOf, testbedConfigOf } from '../conformance/lib/suites.ts'
import { withPackages } from './needed-packages.ts'

interface Flags {
  readonly port: number
  readonly chainPort: number
  readonly stateDir: string
  readonly blockTime?: number
  readonly bundles: boolean
  readonly suite: readonly string[]
}

/** How long closing may take, in milliseconds. Chain and ledger are gone with the process anyway. */
const CLOSE_DEADLINE_MS = 700
/** Signals within this time count as one: the terminal sends Ctrl-C, and the launcher hands it on. */
const SAME_SIGNAL_MS = 300

/**
 * The command `up`: the testbed, until Ctrl-C or SIGTERM.
 *
 * @returns the exit code: 0 stopped as asked, 2 wrong usage or a busy port
 */
export async function run(argv: readonly string[]): Promise<number> {
  const command = new Command('touchstone up')
    .description('Starts the testbed: Hardhat chain, contracts, fixture file, reference server. Ctrl-C stops it.')
    .option('--port <port>', 'of the reference server; 0 for any free one', parsePort, 3000)
    .option('--chain-port <port>', 'of the chain; 0 for any free one', parsePort, 8545)
    .option('--state-dir <folder>', 'for the fixture file testbed.json', '.touchstone')
    .option('--block-time <seconds>', 'a block every so often, instead of a block per transaction', parseSeconds)
    .option('--bundles', 'deploys the bundler, and lets calls share transactions', false)
    .option(
      '--suite <package>',
      'with what a suite of your own judges: a package, or a path that begins with . or /; repeatable',
      (source: string, before: readonly string[]) => [...before, source],
      [],
    )
  const exitCode = parseCommand(command, argv)
  if (exitCode !== undefined) return exitCode
  const { port, chainPort, stateDir, blockTime, bundles, suite } = command.opts<Flags>()

  const config = testbedConfigOf(await loadSuitesOf(suite, process.cwd()))
  const stop = stopSignal()
  const start = performance.now()
  let testbed: Testbed | undefined
  try {
    await mkdir(stateDir, { recursive: true })
    // Loaded here, because it imports the whole server.
    const started = withPackages('up', ['server', 'chain'], () => import('../testbed/testbed.ts')).then(
      ({ startTestbed }) =>
        startTestbed({
          port,
          chainPort,
          stateDir,
          bundles,
          config,
          ...(blockTime !== undefined && { blockTimeSeconds: blockTime }),
        }),
    )
    testbed = await Promise.race([started, stop.then(() => undefined)])
  } catch (error) {
    const line = mendable(error as SystemError, { chainPort, stateDir })
    if (line === undefined) throw error
    process.stderr.write(`${line}\n`)
    return 2
  }
  if (!testbed) process.exit(0)
  process.stdout.write(describeTestbed(testbed, performance.now() - start, blockTime))
  await stop
  process.stdout.write('stopping\n')
  const closed = testbed.close().then(() => true)
  if (!(await Promise.race([closed, sleep(CLOSE_DEADLINE_MS, false, { ref: false })]))) process.exit(0)
  return 0
}

type SystemError = NodeJS.ErrnoException & { readonly port?: number }

/** A fault that the person at the terminal can mend, in one line; undefined for any other. */
function mendable(
  { code = '', message, port, path }: SystemError,
  { chainPort, stateDir }: Pick<Flags, 'chainPort' | 'stateDir'>,
): string | undefined {
  if (path !== undefined) return `--state-dir: ${stateDir} is no folder that can be written (${code})`
  if (code !== 'EADDRINUSE' && code !== 'EACCES') return undefined
  return `${message}; choose another with ${port === chainPort ? '--chain-port' : '--port'}`
}

/** The command `check` as it is typed in a clone, or with the package. */
const checkCommand = import.meta.filename.endsWith('.ts') ? 'npm run check --' : 'npx touchstone check'

/** The lines that `up` prints. Keys are in the fixture file, never here. */
function describeTestbed(testbed: Testbed, startMs: number, blockTimeSeconds: number | undefined): string {
  const { fixture, relayUrl, ethRpcBaseUrl, rpcUrl, fixtureFile } = testbed
  const mining = blockTimeSeconds === undefined ? 'a block per transaction' : `a block every ${blockTimeSeconds} s`
  return `
The testbed is up (${(startMs / 1000).toFixed(1)} s).

  relay     ${relayUrl}   POST /execute, POST /quota
  try it    ${relayUrl}/try   in a browser
  eth-rpc   ${ethRpcBaseUrl}/api/eth-rpc
  chain     ${rpcUrl}   chain id ${fixture.chain.chainId}, ${mining}
  profile   ${fixture.profile.address}
            key manager ${fixture.profile.keyManager}
  fixture   ${fixtureFile}   addresses, and the keys of test accounts: worth nothing elsewhere

From another terminal:  ${checkCommand} ${relayUrl}
Ctrl-C stops everything.

`
}

/** Resolves at the first SIGINT, SIGTERM or SIGHUP; the second one ends the process. */
function stopSignal(): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>()
  let firstMs: number | undefined
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
    process.on(signal, () => {
      firstMs ??= performance.now()
      if (performance.now() - firstMs > SAME_SIGNAL_MS) process.exit(128 + constants.signals[signal])
      resolve()
    })
  }
  return promise
}
