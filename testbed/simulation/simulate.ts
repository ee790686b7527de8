import { fork, type ChildProcess } from 'node:child_process'
import { extname } from 'node:path'
import { fileURLToPath } from 'node:url'

/** What a worker is to do. */
export interface Order {
  readonly seed: number
  /** Whether everything that happens is wanted. */
  readonly isTraced: boolean
  /** Whether a run that fails is to be made smaller. */
  readonly isShrunk: boolean
}

/** What came of a seed. */
export interface Found {
  readonly seed: number
  /** What was promised and not kept; none: the run is good. */
  readonly faults: readonly string[]
  readonly digest: string
  readonly virtualMs: number
  /** Calls that were accepted. */
  readonly accepted: number
  /** How often each transition of a relay call was seen, by `from > event`. */
  readonly transitions: Readonly<Record<string, number>>
  /** Transactions that carry several calls, and are mined. */
  readonly bundles: number
  readonly cpuMs: number
  /** Of a run that failed, after it was made smaller; or everything, where it is traced. */
  readonly story?: string
}

export interface SimulateOptions {
  /** The first seed. */
  readonly from: number
  readonly count: number
  /** Processes that simulate. */
  readonly workers: number
  /** The fault that is planted in the code; absent: none. */
  readonly planted?: string
  readonly isTraced?: boolean
  readonly isShrunk?: boolean
  /** Told of each seed. @returns whether that is enough */
  readonly onFound: (found: Found) => boolean | void
}

/**
 * Runs seeds in processes of their own.
 *
 * @throws Error a worker has ended
 */
export async function simulate(options: SimulateOptions): Promise<void> {
  const { from, count, workers, planted, isTraced = false, isShrunk = false, onFound } = options
  let seed = from
  let isEnough = false
  const live = async (worker: ChildProcess): Promise<void> => {
    for (;;) {
      const message = await nextMessage(worker)
      if (message !== 'ready') isEnough = onFound(message as Found) === true || isEnough
      if (seed >= from + count || isEnough) return
      worker.send({ seed: seed++, isTraced, isShrunk } satisfies Order)
    }
  }
  const file = fileURLToPath(new URL(`worker${extname(import.meta.filename)}`, import.meta.url))
  const started = Array.from({ length: workers }, () =>
    fork(file, planted === undefined ? [] : [planted], { execArgv: ['--max-old-space-size=1024'] }),
  )
  try {
    await Promise.all(started.map(live))
  } finally {
    for (const worker of started) worker.kill('SIGKILL')
  }
}

function nextMessage(worker: ChildProcess): Promise<unknown> {
  return new Promise((resolve, reject) => {
    const ended = (code: number | null) => reject(new Error(`a worker of the simulation has ended (${code})`))
    worker.once('exit', ended)
    worker.once('message', (message) => {
      worker.off('exit', ended)
      resolve(message)
    })
  })
}
