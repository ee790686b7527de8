import { fork, type ChildProcess } from 'node:child_process'
import { extname } from 'node:path'
import { fileURLToPath } from 'node:url'

/** An order for a worker. */
export interface Order {
  readonly seed: number
  /** Whether to return the whole trace. */
  readonly isTraced: boolean
  /** Whether to make a run that fails smaller. */
  readonly isShrunk: boolean
}

/** The result of a seed. */
export interface Found {
  readonly seed: number
  /** The promises that were broken. Empty: the run is good. */
  readonly faults: readonly string[]
  readonly digest: string
  readonly virtualMs: number
  /** Calls that were accepted. */
  readonly accepted: number
  /** How often each transition of a relay call was seen, by `from > event`. */
  readonly transitions: Readonly<Record<string, number>>
  /** Transactions that carry several calls, and are mined. */
  readonly bundles: number
  /** Transactions of a stranger that carry calls of others, and are mined. */
  readonly copies: number
  readonly cpuMs: number
  /** The story of a run that failed, after it was made smaller. With `isTraced`, the whole trace. */
  readonly story?: string
}

export interface SimulateOptions {
  readonly seeds: Iterable<number>
  /** Processes that simulate. */
  readonly workers: number
  /** The fault that is planted in the code; absent: none. */
  readonly planted?: string
  readonly isTraced?: boolean
  readonly isShrunk?: boolean
  /** Called with the result of each seed. @returns true to stop */
  readonly onFound: (found: Found) => boolean | void
}

/** So many seeds, one after the other. */
export function* seedsFrom(first: number, count: number): Iterable<number> {
  for (let seed = first; seed < first + count; seed++) yield seed
}

/**
 * Runs seeds in processes of their own.
 *
 * @throws Error a worker has ended
 */
export async function simulate(options: SimulateOptions): Promise<void> {
  const { seeds, workers, planted, isTraced = false, isShrunk = false, onFound } = options
  const seedsLeft = seeds[Symbol.iterator]()
  let isEnough = false
  const live = async (worker: ChildProcess): Promise<void> => {
    for (;;) {
      const message = await nextMessage(worker)
      if (message !== 'ready') isEnough = onFound(message as Found) === true || isEnough
      const next = seedsLeft.next()
      if (next.done === true || isEnough) return
      worker.send({ seed: next.value, isTraced, isShrunk } satisfies Order)
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
