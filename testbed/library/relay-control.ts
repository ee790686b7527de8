import { cp, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
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
  restoreLedger(copy: string): Promise<void>
  /** Stops the relay, and removes the ledger with its copies. */
  close(): Promise<void>
}

interface Running {
  readonly url: string
  close(): Promise<void>
  kill?(): Promise<void>
}

/** @param isProcess whether it runs in a process of its own */
export async function controlRelay(
  options: Omit<DevelopmentOptions, 'port'>,
  isProcess: boolean,
): Promise<RelayControl> {
  const home = await mkdtemp(join(tmpdir(), 'touchstone-relay-'))
  const ledger = join(home, 'ledger')
  let copies = 0
  let running: Running | undefined
  let port = 0

  async function start(): Promise<string> {
    if (running) return running.url
    const development = { ...options, port, config: { ...options.config, database: { folder: ledger } } }
    running = isProcess
      ? // It says at this level that it listens.
        await startServerProcess({ ...options, config: { ...developmentTree(development), log: { level: 'info' } } })
      : await startServer(developmentConfig(development))
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
      const copy = join(home, `copy-${++copies}`)
      await cp(ledger, copy, { recursive: true })
      return copy
    },
    restoreLedger: async (copy) => {
      await rm(ledger, { recursive: true, force: true })
      await cp(copy, ledger, { recursive: true })
    },
    close: async () => {
      await stop()
      await rm(home, { recursive: true, force: true })
    },
  }
}
