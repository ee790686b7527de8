import { cpSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openDatabase, schemaOf } from '../../server/services/database/database.ts'
import { type Clock, systemClock } from '../../server/services/clock.ts'
import { startServer } from '../../server/start.ts'
import { startServerProcess } from '../processes.ts'
import { developmentConfig, developmentTree, type DevelopmentOptions } from '../testbed.ts'

/** A relay that can be stopped and started again on the same port, with the same ledger. */
export interface RelayControl {
  readonly url: string
  start(): Promise<void>
  /** Ends it as an operator would. */
  stop(): Promise<void>
  /** Ends its process with SIGKILL. @throws TypeError it has no process of its own */
  kill(): Promise<void>
  /** Copies the ledger of a relay that does not run. @returns the folder with the copy */
  copyLedger(): Promise<string>
  /** Replaces the ledger of a relay that does not run by a copy. */
  restoreLedger(kept: string): Promise<void>
  /** Stops the relay, and removes the ledger with its copies. */
  close(): Promise<void>
}

interface Running {
  readonly url: string
  close(): Promise<void>
  kill?(): Promise<void>
}

/**
 * An empty ledger with its tables, which is made once in a process: to make one takes as long as the rest of a relay's
 * start. The folder is removed when the process ends.
 */
let emptyLedger: Promise<string> | undefined

async function makeEmptyLedger(chainId: bigint): Promise<string> {
  const home = mkdtempSync(join(tmpdir(), 'touchstone-ledger-'))
  process.once('exit', () => rmSync(home, { recursive: true, force: true }))
  const folder = join(home, 'ledger')
  const database = await openDatabase({ url: null, folder, schema: schemaOf(chainId), poolSize: 1 })
  await database.close()
  return folder
}

/** `cp` of `node:fs/promises` takes eight times as long for a thousand small files. */
function copy(from: string, to: string): void {
  mkdirSync(to, { mode: 0o700 })
  cpSync(from, to, { recursive: true })
}

interface RelayOptions {
  /** Of the chain that the relay is for. */
  readonly chainId: bigint
  /** Whether it runs in a process of its own. */
  readonly isProcess: boolean
  readonly clockOffsetMs: number
}

/** @throws TypeError the clock of another process cannot be set */
export async function controlRelay(
  options: Omit<DevelopmentOptions, 'port'>,
  { chainId, isProcess, clockOffsetMs }: RelayOptions,
): Promise<RelayControl> {
  if (isProcess && clockOffsetMs !== 0) throw new TypeError('clockOffsetMs: the relay has a process of its own')
  const clock: Clock = { ...systemClock, nowMs: () => systemClock.nowMs() + clockOffsetMs }
  emptyLedger ??= makeEmptyLedger(chainId)
  const empty = await emptyLedger
  const home = await mkdtemp(join(tmpdir(), 'touchstone-relay-'))
  const ledger = join(home, 'ledger')
  copy(empty, ledger)
  let copies = 0
  let running: Running | undefined
  let port = 0

  async function start(): Promise<string> {
    if (running) return running.url
    const development = { ...options, port, config: { ...options.config, database: { folder: ledger } } }
    running = isProcess
      ? // It says at this level that it listens.
        await startServerProcess({ ...options, config: { ...developmentTree(development), log: { level: 'info' } } })
      : await startServer(developmentConfig(development), { clock })
    port = Number(new URL(running.url).port)
    return running.url
  }

  async function stop(): Promise<void> {
    const stopping = running
    running = undefined
    await stopping?.close()
  }

  return {
    url: await start(),
    start: async () => void (await start()),
    stop,
    kill: async () => {
      if (!isProcess) throw new TypeError('the relay runs in this process: start the testbed with { process: true }')
      const killed = running
      running = undefined
      await killed?.kill?.()
    },
    copyLedger: async () => {
      const kept = join(home, `copy-${++copies}`)
      copy(ledger, kept)
      return kept
    },
    restoreLedger: async (kept) => {
      await rm(ledger, { recursive: true, force: true })
      copy(kept, ledger)
    },
    close: async () => {
      await stop()
      await rm(home, { recursive: true, force: true })
    },
  }
}
