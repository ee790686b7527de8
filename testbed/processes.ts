import { spawn, type ChildProcess } from 'node:child_process'
import { randomInt } from 'node:crypto'
import { once } from 'node:events'
import { writeFile } from 'node:fs/promises'
import { extname, join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { assertPortIsFree } from '../contracts/port.ts'
import { boundless } from '../server/services/ledger/budgets.ts'
import { optionalCommand } from '../server/core/optional-package.ts'
import { atExit, temporaryFolder } from './at-exit.ts'

/** A process of its own, so that the measured program shares no event loop with the program that measures it. */
export interface Started {
  readonly url: string
  readonly pid: number
  /** Ends the process as an operator does (SIGTERM). */
  close(): Promise<void>
  /** Ends the process as a power cut does (SIGKILL). */
  kill(): Promise<void>
}

export const nodeKinds = ['hardhat', 'anvil'] as const
export type NodeKind = (typeof nodeKinds)[number]

interface SpawnOptions {
  /** Variables beside those of this process. */
  readonly environment?: NodeJS.ProcessEnv
  /** The only core that the process may use; absent: the cores of this process. */
  readonly core?: number | undefined
}

export interface NodeOptions extends Pick<SpawnOptions, 'core'> {
  /** Seconds between blocks; absent: a block for each transaction. */
  readonly blockTimeSeconds?: number
}

/** `.ts` in the repository, `.js` in the published package. */
const ending = extname(import.meta.filename)

/**
 * Starts a script of this repository in a process of its own.
 *
 * @param path from the root of the repository or of `dist`, without its ending
 * @param line matches the line that the script prints when it listens; its first group is the URL
 */
export function startScript(
  path: string,
  args: readonly string[] = [],
  { line = /^listening (\S+)/, ...options }: SpawnOptions & { readonly line?: RegExp } = {},
): Promise<Started> {
  const script = fileURLToPath(new URL(`../${path}${ending}`, import.meta.url))
  return whenListening(spawnNodeJs([script, ...args], options), line)
}

/** The last option keeps anvil from writing gigabytes of old states to the home folder, where they would stay. */
const anvilOptions = ['--accounts', '20', '--gas-limit', '100000000', '--max-persisted-states', '0']

/** Starts a development node with the well-known accounts. */
export function startNode(kind: NodeKind, { blockTimeSeconds, ...options }: NodeOptions = {}): Promise<Started> {
  if (kind === 'hardhat') return startScript('testbed/hardhat-node', [String(blockTimeSeconds ?? 0)], options)
  const blockTime = blockTimeSeconds === undefined ? [] : ['--block-time', String(blockTimeSeconds)]
  const args = [optionalCommand('@foundry-rs/anvil'), '--port', '0', ...anvilOptions, ...blockTime]
  return whenListening(spawnNodeJs(args, options), /^Listening on (\S+)/, 'http://')
}

export interface ServerOptions {
  readonly rpcUrl: string
  readonly signerKeys: readonly string[]
  /** Members in place of those of the usual configuration: open to all, unlimited quota, the embedded database in a folder. */
  readonly config?: Readonly<Record<string, unknown>>
  /** PostgreSQL instead of the embedded database. */
  readonly databaseUrl?: string
  /** Variables beside those of this process. */
  readonly environment?: Readonly<Record<string, string>>
  /** The number of processes that serve together. More than one needs PostgreSQL. */
  readonly workers?: number
}

/** Starts the reference server by its command `serve`. */
export async function startServerProcess(options: ServerOptions): Promise<Started> {
  const folder = temporaryFolder('server')
  const file = join(folder.path, 'config.json')
  await writeFile(file, JSON.stringify({ ...serverConfig(options.rpcUrl, folder.path), ...options.config }))
  const workers = options.workers === undefined ? [] : ['--workers', String(options.workers)]
  const started = await startScript('scripts/touchstone', ['serve', '--config', file, ...workers], {
    line: /"url":"([^"]+)".*"msg":"listening"/,
    environment: {
      NODE_ENV: 'production',
      TOUCHSTONE_SIGNER_KEYS: options.signerKeys.join(','),
      ...(options.databaseUrl !== undefined && { DATABASE_URL: options.databaseUrl }),
      ...options.environment,
    },
  })
  return {
    ...started,
    close: () => started.close().then(folder.remove),
    kill: () => started.kill().then(folder.remove),
  }
}

function serverConfig(rpcUrl: string, folder: string) {
  return {
    listen: { port: 0 },
    chain: { rpcUrls: [rpcUrl], confirmations: 0 },
    database: { folder: join(folder, 'database') },
    registration: 'open',
    unregistered: boundless,
    quota: { plans: { default: { model: 'gas', options: { gasPerPeriod: Number.MAX_SAFE_INTEGER } } } },
    limits: { requestsPerMinute: 0, relaysPerMinute: 0 },
    log: { level: 'info' },
  }
}

function spawnNodeJs(args: readonly string[], { environment = {}, core }: SpawnOptions): ChildProcess {
  const [command, ...rest] = core === undefined ? [] : ['taskset', '-c', String(core), process.execPath]
  const child = spawn(command ?? process.execPath, [...rest, ...args], {
    stdio: ['ignore', 'pipe', 'inherit'],
    env: { ...process.env, ...environment },
  })
  child.once(
    'exit',
    atExit(() => child.kill('SIGKILL')),
  )
  return child
}

async function whenListening(child: ChildProcess, line: RegExp, prefix = ''): Promise<Started> {
  const exited = once(child, 'exit')
  if (!child.stdout || child.pid === undefined) throw new Error('the process has no output')
  const stop = async (signal: NodeJS.Signals) => {
    if (child.exitCode === null && child.signalCode === null) child.kill(signal)
    await exited
  }
  for await (const text of createInterface(child.stdout)) {
    const found = line.exec(text)?.[1]
    if (found === undefined) continue
    child.stdout.resume()
    return { url: `${prefix}${found}`, pid: child.pid, close: () => stop('SIGTERM'), kill: () => stop('SIGKILL') }
  }
  throw new Error(`${child.spawnargs.join(' ')} ended before it listened`)
}

/** The WebSocket URL of a node with this HTTP URL. Development nodes serve both at one port. */
export const byWebSocket = (rpcUrl: string): string => rpcUrl.replace(/^http/, 'ws')

/** Systems give higher ports to whoever asks for any port, and to each connection. */
const GIVEN_AWAY_FROM = 32_768

/**
 * Finds a free TCP port, for programs that cannot choose one themselves. No other program is given it by the system before
 * they listen there.
 */
export async function unusedPort(): Promise<number> {
  for (;;) {
    const port = randomInt(10_000, GIVEN_AWAY_FROM)
    try {
      await assertPortIsFree(port, '127.0.0.1')
      return port
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EADDRINUSE') throw error
    }
  }
}
