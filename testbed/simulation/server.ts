import { pino } from 'pino'
import { Registry as MetricsRegistry } from 'prom-client'
import type { Config } from '../../specs/index.ts'
import { composeServices, type Composed, type Timings } from '../../server/compose.ts'
import type { RelayRequest } from '../../server/core/define.ts'
import { servicesFor, type Registry } from '../../server/core/registry.ts'
import type { NodeConnection } from '../../server/services/node/node-connection.ts'
// Where Services gets its member `profiles`.
import type {} from '../../server/services/profiles/profiles.ts'
import type { Cluster } from './cluster.ts'
import { EPOCH_MS, type Process, type WorldTime } from './world-time.ts'
import type { StoredJobs } from './job-queue.ts'

export interface SimulatedServerOptions {
  readonly name: string
  readonly time: WorldTime
  readonly cluster: Cluster
  readonly jobs: StoredJobs
  readonly registry: Registry
  readonly config: Config
  readonly timings: Timings
  readonly signerKeys: readonly string[]
  readonly connect: (process: Process, rpcUrl: string) => NodeConnection
}

/** A supervisor starts a server anew after this time. */
const RESTART_MS = 1_000

/** A server, which starts, sleeps, dies and starts again. What it is made of is what `compose.ts` makes. */
export class SimulatedServer {
  readonly #options: SimulatedServerOptions
  #process: Process
  #composed: Composed | undefined
  /** What to do when the process ends: those who wait for an answer notice. */
  readonly #connections = new Set<() => void>()
  #starts = 0

  constructor(options: SimulatedServerOptions) {
    this.#options = options
    this.#process = this.#newProcess()
  }

  get name(): string {
    return this.#options.name
  }

  get process(): Process {
    return this.#process
  }

  /** The services, while it serves. */
  get services(): Composed['services'] | undefined {
    return this.#process.isAlive ? this.#composed?.services : undefined
  }

  start(): void {
    const { time, name, cluster, jobs } = this.#options
    const process = (this.#process = this.#newProcess())
    const aheadMs = process.aheadMs
    const begunMs = time.nowMs
    time.after(0, process, async () => {
      const write = (line: string) => {
        const { level, msg, ...rest } = JSON.parse(line) as { level: number; msg: string }
        const text = `${name} ${level >= 50 ? 'error' : level >= 40 ? 'warn' : 'info'}: ${msg} ${told(rest)}`
        if (level >= 40) time.tell(text)
        else time.log(text)
      }
      const starting = composeServices({
        ...this.#options,
        secrets: { signerKeys: this.#options.signerKeys, keystores: [] },
        clock: {
          nowMs: () => Math.floor(EPOCH_MS + time.nowMs + process.aheadMs),
          monotonicMs: () => time.nowMs - begunMs,
        },
        log: pino({ base: null, timestamp: false, level: 'info' }, { write }),
        metrics: new MetricsRegistry(),
        edges: {
          connect: (rpcUrl) => this.#options.connect(process, rpcUrl),
          openDatabase: async () => cluster.open(process),
          openQueue: async () => jobs.open(process),
        },
      })
      void starting.then(
        (composed) => {
          if (!process.isAlive) return
          this.#composed = composed
          time.tell(`${name} serves${aheadMs === 0 ? '' : `, its clock ${aheadMs} ms ahead`}`)
        },
        (error: unknown) => {
          time.tell(`${name} cannot start: ${error instanceof Error ? error.message : String(error)}`)
          this.crash('exits')
          time.after(RESTART_MS, undefined, () => {
            if (!this.#process.isAlive) this.start()
          })
        },
      )
    })
  }

  crash(how = 'is killed'): void {
    const { time, name, cluster } = this.#options
    if (!this.#process.isAlive) return
    time.tell(`${name} ${how}`)
    this.#process.isAlive = false
    this.#composed = undefined
    cluster.crashed(this.#process)
    for (const lose of [...this.#connections]) lose()
  }

  sleep(ms: number): void {
    const { time, name, cluster } = this.#options
    if (!this.#process.isAlive) return
    time.tell(`${name} sleeps for ${ms} ms`)
    this.#process.sleepsUntilMs = Math.max(this.#process.sleepsUntilMs, time.nowMs + ms)
    cluster.fellAsleep(this.#process, ms)
  }

  /**
   * Does what a request asks for, in the process of the server.
   *
   * @returns what it answers; rejects with `lost` when nothing serves, or the process ends before it answers
   */
  request<Answer>(work: (services: Composed['services']) => Promise<Answer>, lost: () => Error): Promise<Answer> {
    const { time } = this.#options
    const process = this.#process
    return new Promise((resolve, reject) => {
      const lose = () => {
        this.#connections.delete(lose)
        time.after(0, undefined, () => reject(lost()))
      }
      if (!process.isAlive || !this.#composed) return lose()
      const { services } = this.#composed
      this.#connections.add(lose)
      time.after(0, process, () => {
        const end = (settle: () => void) => {
          if (!this.#connections.delete(lose)) return
          // What the caller does then is done by the caller.
          time.after(0, undefined, settle)
        }
        work(services).then(
          (answer) => end(() => resolve(answer)),
          (error: Error) => end(() => reject(error)),
        )
      })
    })
  }

  /** As `POST /execute` does it, without HTTP. */
  execute(request: RelayRequest, lost: () => Error): Promise<string> {
    const relay = this.#options.registry.relays.find(({ plugin }) => plugin.id === 'lsp25')
    if (!relay) throw new Error('there is no plugin lsp25')
    return this.request(async (services) => {
      const needs = servicesFor(relay, services)
      const profile = await services.profiles.resolve(request.address, relay.plugin.keyManagerInterfaceIds)
      const call = await relay.plugin.verify(request, profile, needs, relay.options)
      return (await relay.plugin.submit(call, needs, relay.options)).transactionHash
    }, lost)
  }

  #newProcess(): Process {
    const aheadMs = this.#process?.aheadMs ?? 0
    return {
      name: `${this.#options.name}.${++this.#starts}`,
      isAlive: this.#starts > 1,
      sleepsUntilMs: 0,
      aheadMs,
      planned: 0,
    }
  }
}

function told(rest: object): string {
  const text = JSON.stringify(rest, (key, value: unknown) =>
    key === 'stack' || key === 'requestId' ? undefined : value,
  )
  return text.length > 160 ? `${text.slice(0, 160)}…` : text
}
