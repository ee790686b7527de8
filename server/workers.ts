import cluster, { type Worker } from 'node:cluster'
import type { Logger } from 'pino'
import { AggregatorRegistry, type Registry } from 'prom-client'
import type { Config } from '../specs/index.ts'

interface WorkersOptions {
  /** At least two. */
  readonly count: number
  readonly log: Logger
  /** Resolves when the server is to stop. */
  readonly stopped: Promise<void>
}

interface Listening {
  readonly type: 'touchstone:listening'
  readonly url: string
}

/** How a worker's start ends: it listens, or it is over. */
type Started = { readonly url: string } | { readonly exitCode: number }

/** A worker that ends within this time after its start has not served, in milliseconds. */
const SHORT_LIFE_MS = 10_000
const FIRST_PAUSE_MS = 1_000
const LONGEST_PAUSE_MS = 30_000

/**
 * Serves with several processes, which run the command of this one and share its port. The first of them starts alone:
 * what keeps it from starting is told once. One that ends unasked is replaced.
 *
 * @returns the exit code: 0 stopped as asked, else that of the worker that could not start
 */
export async function superviseWorkers({ count, log, stopped }: WorkersOptions): Promise<number> {
  const running = new Map<Worker, Promise<void>>()
  let isServing = false
  let isStopping = false
  let shortLives = 0
  tellMetrics()

  function start(): Promise<Started> {
    const begunMs = performance.now()
    const worker = cluster.fork()
    const { promise, resolve } = Promise.withResolvers<Started>()
    const exited = Promise.withResolvers<void>()
    running.set(worker, exited.promise)
    let isListening = false
    worker.on('message', (message: Listening | { readonly type?: unknown }) => {
      if (message.type !== 'touchstone:listening') return
      isListening = true
      resolve({ url: (message as Listening).url })
    })
    worker.on('exit', (code: number | null, signal: string | null) => {
      running.delete(worker)
      exited.resolve()
      resolve({ exitCode: code ?? 2 })
      // One that has listened may end while the others start.
      if ((isServing || isListening) && !isStopping)
        replace({ pid: worker.process.pid, code, signal }, performance.now() - begunMs)
    })
    return promise
  }

  function replace(ended: Readonly<Record<string, unknown>>, livedMs: number): void {
    shortLives = livedMs < SHORT_LIFE_MS ? shortLives + 1 : 0
    const pauseMs = shortLives === 0 ? 0 : Math.min(FIRST_PAUSE_MS * 2 ** (shortLives - 1), LONGEST_PAUSE_MS)
    log.error({ ...ended, pauseMs }, 'a worker has ended unasked: another one takes its place')
    setTimeout(() => {
      if (!isStopping) void start()
    }, pauseMs)
  }

  const stop = async (): Promise<void> => {
    isStopping = true
    for (const worker of running.keys()) worker.process.kill('SIGTERM')
    await Promise.all(running.values())
  }
  const ended = stopped.then(stop)
  const others = () => Promise.all(Array.from({ length: count - 1 }, start))
  const first = await start()
  const all = 'url' in first && !isStopping ? [first, ...(await others())] : [first]
  const failed = all.find((one) => 'exitCode' in one)
  if (failed && !isStopping) {
    await stop()
    return failed.exitCode
  }
  isServing = true
  if (!isStopping && 'url' in first) {
    log.info({ url: first.url, workers: [...running.keys()].map(({ process: { pid } }) => pid) }, 'listening')
  }
  await ended
  return 0
}

/** In a worker: tells the first process that this one listens. */
export function tellListening(url: string): void {
  process.send?.({ type: 'touchstone:listening', url } satisfies Listening)
}

/** What one of several processes takes of the limits that are counted in a process. */
export function limitsOfWorker(limits: Config['limits'], count: number): Config['limits'] {
  const { connections, connectionsPerAddress } = limits
  const share = (whole: number) => Math.ceil(whole / count)
  return { ...limits, connections: share(connections), connectionsPerAddress: share(connectionsPerAddress) }
}

const ASKED = 'touchstone:metrics-asked'
const TOLD = 'touchstone:metrics-told'
/** The first process answers within five seconds: prom-client waits no longer for a worker. */
const TIMEOUT_MS = 6_000

interface Asked {
  readonly type: typeof ASKED
  readonly id: number
}

interface Told {
  readonly type: typeof TOLD
  readonly id: number
  /** In the Prometheus text format; absent: a worker did not answer. */
  readonly text?: string
}

/** In the first process: tells workers the metrics of all of them. */
function tellMetrics(): void {
  const all = new AggregatorRegistry()
  cluster.on('message', (worker, message: Asked | { readonly type?: unknown }) => {
    if (message.type !== ASKED) return
    const { id } = message as Asked
    // The worker may be gone by then.
    const tell = (told: Omit<Told, 'type' | 'id'>) =>
      void worker.send({ type: TOLD, id, ...told } satisfies Told, () => undefined)
    all.clusterMetrics().then(
      (text) => tell({ text }),
      () => tell({}),
    )
  })
}

/**
 * In a worker: reads the metrics of all workers. Counters and histograms are added up; of gauges, see their aggregator.
 *
 * @returns a function that throws an Error when a worker does not answer
 */
export function metricsOfAll(own: Registry): () => Promise<string> {
  AggregatorRegistry.setRegistries(own)
  // From now on this worker tells the first process its own metrics.
  void new AggregatorRegistry()
  const waiting = new Map<number, (told: Told) => void>()
  let last = 0
  process.on('message', (message: Told | { readonly type?: unknown }) => {
    if (message.type !== TOLD) return
    const told = message as Told
    waiting.get(told.id)?.(told)
  })
  return async () => {
    const id = ++last
    const { promise, resolve, reject } = Promise.withResolvers<Told>()
    const timer = setTimeout(() => reject(new Error('the first process does not tell the metrics')), TIMEOUT_MS)
    waiting.set(id, resolve)
    process.send?.({ type: ASKED, id } satisfies Asked)
    try {
      const { text } = await promise
      if (text === undefined) throw new Error('a worker does not tell its metrics')
      return text
    } finally {
      clearTimeout(timer)
      waiting.delete(id)
    }
  }
}
