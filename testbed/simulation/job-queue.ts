import type { Job, JobInsert } from 'pg-boss'
import type { JobQueue } from '../../server/services/jobs/jobs.ts'
import type { Random } from './random.ts'
import type { Process, WorldTime } from './world-time.ts'

interface StoredJob {
  readonly id: string
  readonly data: unknown
  readonly singletonKey: string
  /** By the clock of the database. */
  readonly startsAtMs: number
  isActive: boolean
  expiresAtMs: number
}

type Handler = (jobs: Job<unknown>[]) => Promise<void>

/** As `jobs.ts` asks for it. */
const EXPIRE_MS = 60_000
const BATCH = 16
const POLL_MS = 500

/**
 * What pg-boss keeps in the database, as a model: it is asked twice a second, and its own statements would be most of a
 * run. A job that waits keeps others of the same key away (policy `short`); one whose worker has died is gone after a
 * minute, since it is not tried again.
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

  /** What a server opens in place of pg-boss. */
  open(process: Process): JobQueue {
    const time = this.#time
    let isStopped = false
    let wake = () => {}

    /** Goes to the database and back; what is done there is done even if the process ends meanwhile. */
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
