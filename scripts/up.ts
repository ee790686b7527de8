import { Command } from 'commander'
import { parseCommand } from './parse-command.ts'
import { setTimeout as sleep } from 'node:timers/promises'
import { parsePort, parseSeconds } from './numbers.ts'
import type { Testbed } from './testbed.ts'

interface Flags {
  readonly port: number
  readonly chainPort: number
  readonly stateDir: string
  readonly blockTime?: number
}

/** A client that keeps a connection open does not keep the testbed from stopping. */
const CLOSE_DEADLINE_MS = 5_000

/**
 * The command `up`: the testbed, until Ctrl-C or SIGTERM.
 *
 * @returns the exit code: 0 stopped as asked, 2 wrong usage or a busy port
 */
export async function run(argv: readonly string[]): Promise<number> {
  const command = new Command('up')
    .description('Starts the testbed: Hardhat chain, contracts, fixture file, reference server. Ctrl-C stops it.')
    .option('--port <port>', 'of the reference server; 0 for any free one', parsePort, 3000)
    .option('--chain-port <port>', 'of the chain; 0 for any free one', parsePort, 8545)
    .option('--state-dir <folder>', 'for the fixture file testbed.json', '.touchstone')
    .option('--block-time <seconds>', 'a block every so often, instead of a block per transaction', parseSeconds)
  const exitCode = parseCommand(command, argv)
  if (exitCode !== undefined) return exitCode
  const { port, chainPort, stateDir, blockTime } = command.opts<Flags>()

  const stop = stopSignal()
  const start = performance.now()
  let testbed: Testbed
  try {
    // Only now: a whole server is behind it.
    const { startTestbed } = await import('./testbed.ts')
    testbed = await startTestbed({
      port,
      chainPort,
      stateDir,
      ...(blockTime !== undefined && { blockTimeSeconds: blockTime }),
    })
  } catch (error) {
    const { code, message, port: busyPort } = error as NodeJS.ErrnoException & { port?: number }
    if (code !== 'EADDRINUSE' && code !== 'EACCES') throw error
    const option = busyPort === chainPort ? '--chain-port' : '--port'
    process.stderr.write(`${message}; choose another with ${option}\n`)
    return 2
  }
  process.stdout.write(describeTestbed(testbed, performance.now() - start, blockTime))
  await stop
  process.stdout.write('stopping\n')
  await Promise.race([testbed.close(), sleep(CLOSE_DEADLINE_MS, undefined, { ref: false })])
  return 0
}

/** As it is typed here: the repository runs the sources, the package what is built from them. */
const checkCommand = import.meta.filename.endsWith('.ts') ? 'npm run check --' : 'npx touchstone check'

/** What a person wants to know of a testbed. Keys are in the file, never here. */
function describeTestbed(testbed: Testbed, startMs: number, blockTimeSeconds: number | undefined): string {
  const { fixture, relayUrl, ethRpcBaseUrl, rpcUrl, fixtureFile } = testbed
  const mining = blockTimeSeconds === undefined ? 'a block per transaction' : `a block every ${blockTimeSeconds} s`
  return `
The testbed is up (${(startMs / 1000).toFixed(1)} s).

  relay     ${relayUrl}   POST /execute, POST /quota
  eth-rpc   ${ethRpcBaseUrl}/api/eth-rpc
  chain     ${rpcUrl}   chain id ${fixture.chain.chainId}, ${mining}
  profile   ${fixture.profile.address}
            key manager ${fixture.profile.keyManager}
  fixture   ${fixtureFile}   addresses, and the keys of test accounts: worth nothing elsewhere

From another terminal:  ${checkCommand} ${relayUrl}
Ctrl-C stops everything.

`
}

/** Resolves at the first SIGINT or SIGTERM; later ones change nothing. */
function stopSignal(): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>()
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => resolve())
  return promise
}
