import { pino } from 'pino'
import { Registry as MetricsRegistry } from 'prom-client'
import type { Job, JobInsert } from 'pg-boss'
import type { Config } from '../../specs/index.ts'
import { composeServices, type Composed, type Timings } from '../../server/compose.ts'
import type { RelayRequest } from '../../server/core/define.ts'
import type { Registry } from '../../server/core/registry.ts'
import { relayByKeyManager } from '../../server/services/relayer/relay-by-key-manager.ts'
import type { NodeConnection } from '../../server/services/node/node-connection.ts'
import type { Cluster } from './cluster.ts'
import { EPOCH_MS, type Process, type WorldTime } from './world-time.ts'
import type { JobQueue } from '../../server/services/jobs/jobs.ts'
import type { Random } from './random.ts'

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

/** A supervisor starts a server again after this time. */
const RESTART_MS = 1_000

/** A server that starts, sleeps, dies and starts again. Its services are those that `compose.ts` makes. */
export class SimulatedServer {
  readonly #options: SimulatedServerOptions
  #process: Process
  #composed: Composed | undefined
  /** Called when the process ends, so that callers who wait for an answer notice it. */
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
   * Serves a request in the process of the server.
   *
   * @returns the answer; rejects with `lost` when the server does not run, or its process ends before it answers
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
          // After the answer the code of the caller runs, and no longer that of the server.
          time.after(0, undefined, settle)
        }
        work(services).then(
          (answer) => end(() => resolve(answer)),
          (error: Error) => end(() => reject(error)),
        )
      })
    })
  }

  /** Does the same as `POST /execute`, without HTTP. */
  execute(request: RelayRequest, lost: () => Error): Promise<string> {
    const { relays } = this.#options.registry
    return this.request(
      async (services) => (await relayByKeyManager(relays, services)(request, {})).transactionHash,
      lost,
    )
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

interface StoredJob {
  readonly id: string
  readonly data: unknown
  readonly singletonKey: string
  /** Time by the clock of the database. */
  readonly startsAtMs: number
  isActive: boolean
  expiresAtMs: number
}

type Handler = (jobs: Job<unknown>[]) => Promise<void>

/** As in the options of `jobs.ts`. */
const EXPIRE_MS = 60_000
const BATCH = 16
const POLL_MS = 500

/**
 * A model of what pg-boss keeps in the database. Servers ask for jobs twice a second, so the statements of the real pg-boss
 * would take most of a run. While a job waits, no other job with its key is stored (policy `short`). A job whose worker has
 * died is removed after a minute, since it is not tried again.
 */
export class StoredJobs {
  readonly #time: WorldTime
  readonly #random: Random
  #jobs: StoredJob[] = []
  #ids = 0

  constructor(time: WorldTime, random: Random) {
    this.#time = time
    this.#random = random
  }

  /** Opens the queue for a server, in place of pg-boss. */
  open(process: Process): JobQueue {
    const time = this.#time
    let isStopped = false
    let wake = () => {}

    /** Goes to the database and back. The database does the work even if the process ends meanwhile. */
    const atDatabase = <Result>(work: () => Result): Promise<Result> =>
      new Promise((resolve) => {
        time.after(this.#random.between(0.05, 2), undefined, () => {
          const result = work()
          time.after(this.#random.between(0.05, 2), process, () => resolve(result))
        })
      })

    const poll = async (handler: Handler): Promise<void> => {
      while (!isStopped) {
        const begunMs = time.nowMs
        const jobs = await atDatabase(() => this.#fetch())
        if (jobs.length > 0) {
          await handler(jobs.map(({ id, data }) => ({ id, data, name: 'follow', expireInSeconds: 60 }) as never))
          await atDatabase(() => this.#remove(jobs))
        }
        await new Promise<void>((resolve) => {
          const event = time.after(Math.max(0, begunMs + POLL_MS - time.nowMs), process, resolve)
          wake = () => {
            time.cancel(event)
            resolve()
          }
        })
      }
    }

    const queue = {
      work: async (_name: string, _options: unknown, handler: Handler) => {
        void poll(handler)
        return process.name
      },
      insert: (_name: string, jobs: readonly JobInsert[]) => atDatabase(() => this.#insert(jobs)),
      deleteQueuedJobs: () => atDatabase(() => void (this.#jobs = this.#jobs.filter(({ isActive }) => isActive))),
      offWork: async () => {},
      notifyWorker: () => wake(),
      getQueueStats: async () => ({ readyCount: 0, deferredCount: 0, activeCount: 0 }),
      stop: async () => void (isStopped = true),
    }
    return queue as unknown as JobQueue
  }

  #insert(jobs: readonly JobInsert[]): null {
    for (const { data, singletonKey = '', startAfter = 0 } of jobs) {
      if (this.#jobs.some((job) => !job.isActive && job.singletonKey === singletonKey)) continue
      const startsAtMs = this.#time.nowMs + Number(startAfter) * 1000
      this.#jobs.push({
        id: `job-${++this.#ids}`,
        data,
        singletonKey,
        startsAtMs,
        isActive: false,
        expiresAtMs: Infinity,
      })
    }
    return null
  }

  #fetch(): StoredJob[] {
    const { nowMs } = this.#time
    this.#jobs = this.#jobs.filter(({ expiresAtMs }) => expiresAtMs > nowMs)
    const ready = this.#jobs.filter(({ isActive, startsAtMs }) => !isActive && startsAtMs <= nowMs).slice(0, BATCH)
    for (const job of ready) {
      job.isActive = true
      job.expiresAtMs = nowMs + EXPIRE_MS
    }
    return ready
  }

  #remove(done: readonly StoredJob[]): void {
    this.#jobs = this.#jobs.filter((job) => !done.includes(job))
  }
}
