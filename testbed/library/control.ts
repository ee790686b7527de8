import { hexlify, randomBytes, toQuantity, type Eip1193Provider } from 'ethers'
import { once } from 'node:events'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { request } from 'undici'
import { cpSync, mkdirSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { openDatabase, schemaOf } from '../../server/services/database/database.ts'
import { type Clock, systemClock } from '../../server/services/clock.ts'
import { startServer } from '../../server/start.ts'
import { temporaryFolder } from '../at-exit.ts'
import { startServerProcess } from '../processes.ts'
import { developmentConfig, developmentTree, type DevelopmentOptions } from '../testbed.ts'

/** Methods that make blocks. The state before each of these calls is kept, so that its blocks can be taken back. */
const MINES = new Set(['eth_sendRawTransaction', 'eth_sendTransaction', 'evm_mine', 'hardhat_mine'])
/** The most blocks that can be taken back. */
const MOST_DEPTH = 64

/** The methods in a request or a batch. Empty for a body that is not JSON, which the node refuses. */
function methodsOf(body: string): unknown[] {
  try {
    const calls = [JSON.parse(body) as unknown].flat()
    return calls.map((call) => (call as { method?: unknown } | null)?.method)
  } catch {
    return []
  }
}

/**
 * Controls a Hardhat chain, whose blocks it makes and takes back. Hardhat cannot reorganise a chain, but it can go back to a
 * kept state. So all requests go through this object, by `url` or `provider`, and it keeps the state before each request that
 * may make a block.
 */
export class ChainControl {
  readonly provider: Eip1193Provider
  readonly #node: Eip1193Provider
  readonly #server: Server
  /** Kept states with the number of their last block, ascending. */
  readonly #kept: { readonly block: number; readonly id: string }[] = []
  #turn: Promise<unknown> = Promise.resolve()
  #timer: NodeJS.Timeout | undefined

  /** @param nodeUrl URL of the node itself. Nobody else may ask the node to make blocks */
  static async start(node: Eip1193Provider, nodeUrl: string): Promise<ChainControl> {
    const control = new ChainControl(node, nodeUrl)
    await once(control.#server, 'listening')
    await control.#keep()
    return control
  }

  private constructor(node: Eip1193Provider, nodeUrl: string) {
    this.#node = node
    const forward = async (body: string): Promise<string> => {
      const headers = { 'content-type': 'application/json' }
      const send = async () => (await request(nodeUrl, { method: 'POST', headers, body })).body.text()
      return methodsOf(body).some((method) => MINES.has(String(method))) ? this.#mining(send) : send()
    }
    this.provider = {
      request: (call) => (MINES.has(call.method) ? this.#mining(() => node.request(call)) : node.request(call)),
    }
    this.#server = createServer((incoming, response) => {
      // Pages of any origin may send requests, as they may to Hardhat's own server.
      response.setHeaders(new Map([['access-control-allow-origin', '*']]))
      if (incoming.method === 'OPTIONS') {
        return void response.writeHead(204, { 'access-control-allow-headers': '*' }).end()
      }
      text(incoming)
        .then(forward)
        .then((answer) => response.setHeader('content-type', 'application/json').end(answer))
        .catch(() => response.destroy())
    }).listen(0, '127.0.0.1')
  }

  /** JSON-RPC over HTTP. */
  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`
  }

  async mine(blocks: number): Promise<void> {
    for (let block = 0; block < blocks; block++) await this.#mining(() => this.#ask('evm_mine'))
  }

  /** Sets the seconds between blocks; null: a block for each transaction, immediately. */
  async setBlockTime(seconds: number | null): Promise<void> {
    clearInterval(this.#timer)
    await this.#inTurn(() => this.#ask('evm_setAutomine', seconds === null))
    if (seconds === null) return
    this.#timer = setInterval(() => void this.mine(1).catch(() => {}), seconds * 1000).unref()
  }

  /** Replaces the last blocks by empty ones, one more than before. @throws RangeError so many blocks cannot be taken back */
  reorg(depth: number): Promise<void> {
    return this.#inTurn(async () => {
      const from = (await this.#head()) - depth
      const base = this.#kept.find(({ block }) => block === from)
      if (!(depth >= 1) || !base)
        throw new RangeError(`${depth} blocks cannot be taken back, ${this.#kept.length - 1} can`)
      await this.#ask('evm_revert', base.id)
      this.#kept.splice(this.#kept.indexOf(base))
      for (let block = 0; block <= depth; block++) {
        await this.#keep()
        // Without a new random value, an empty block could be the same as a block that was taken back.
        await this.#ask('hardhat_setPrevRandao', hexlify(randomBytes(32)))
        await this.#ask('evm_mine')
      }
    })
  }

  /** Removes the transactions that wait to be mined. @returns their hashes */
  dropTransactions(): Promise<string[]> {
    return this.#inTurn(async () => {
      const { transactions } = await this.#ask<{ transactions: string[] }>('eth_getBlockByNumber', 'pending', false)
      for (const hash of transactions) await this.#ask('hardhat_dropTransaction', hash)
      return transactions
    })
  }

  /** Sets the base fee of the next block to so many times the last one. */
  spikeFees(factor: number): Promise<void> {
    return this.#inTurn(async () => {
      const { baseFeePerGas } = await this.#ask<{ baseFeePerGas: string }>('eth_getBlockByNumber', 'latest', false)
      const feeWei = (BigInt(baseFeePerGas) * BigInt(Math.round(factor * 1000))) / 1000n
      await this.#ask('hardhat_setNextBlockBaseFeePerGas', toQuantity(feeWei))
    })
  }

  /** Keeps the state of the chain. @returns its id */
  snapshot(): Promise<string> {
    return this.#inTurn(() => this.#ask<string>('evm_snapshot'))
  }

  /** Goes back to a state. @returns its new id, because an id can be used once. @throws RangeError there is no such state */
  revert(snapshot: string): Promise<string> {
    return this.#inTurn(async () => {
      if (!(await this.#ask<boolean>('evm_revert', snapshot))) throw new RangeError('there is no such state')
      this.#kept.splice(0)
      await this.#keep()
      return this.#ask<string>('evm_snapshot')
    })
  }

  async close(): Promise<void> {
    clearInterval(this.#timer)
    this.#server.closeAllConnections()
    this.#server.close()
    await once(this.#server, 'close')
  }

  async #ask<Result>(method: string, ...params: readonly unknown[]): Promise<Result> {
    return (await this.#node.request({ method, params: [...params] })) as Result
  }

  async #head(): Promise<number> {
    return Number(await this.#ask<string>('eth_blockNumber'))
  }

  /** Does one thing after the other, so that a kept state is that of its block. */
  #inTurn<Result>(work: () => Promise<Result>): Promise<Result> {
    const result = this.#turn.then(work)
    this.#turn = result.catch(() => {})
    return result
  }

  #mining<Result>(work: () => Promise<Result>): Promise<Result> {
    return this.#inTurn(async () => {
      await this.#keep()
      return work()
    })
  }

  async #keep(): Promise<void> {
    const block = await this.#head()
    const known = this.#kept.findIndex((one) => one.block >= block)
    if (known !== -1) this.#kept.splice(known)
    this.#kept.push({ block, id: await this.#ask('evm_snapshot') })
    if (this.#kept.length > MOST_DEPTH + 1) this.#kept.shift()
  }
}

/** A relay that can be stopped and started again on the same port, with the same ledger. */
export interface RelayControl {
  readonly url: string
  start(): Promise<void>
  /** Ends the relay as an operator does. */
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
 * The folder of an empty ledger with its tables. A process makes it once, because making one takes as long as the rest of a
 * relay's start.
 */
let emptyLedger: Promise<string> | undefined

async function makeEmptyLedger(chainId: bigint): Promise<string> {
  const folder = join(temporaryFolder('ledger').path, 'ledger')
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
  /** Id of the relay's chain. */
  readonly chainId: bigint
  /** Whether the relay runs in a process of its own. */
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
  const home = temporaryFolder('relay')
  const ledger = join(home.path, 'ledger')
  copy(empty, ledger)
  let copies = 0
  let running: Running | undefined
  let port = 0

  async function start(): Promise<string> {
    if (running) return running.url
    const development = { ...options, port, config: { ...options.config, database: { folder: ledger } } }
    running = isProcess
      ? // At this log level the server says that it listens.
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
      const kept = join(home.path, `copy-${++copies}`)
      copy(ledger, kept)
      return kept
    },
    restoreLedger: async (kept) => {
      await rm(ledger, { recursive: true, force: true })
      copy(kept, ledger)
    },
    close: async () => {
      await stop()
      home.remove()
    },
  }
}
