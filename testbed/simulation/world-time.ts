import crypto from 'node:crypto'
import { syncBuiltinESMExports } from 'node:module'
import { createRandom, type Random } from './random.ts'

/** A server process, as the clock knows it. Its planned events wait while it sleeps, and are dropped when it dies. */
export interface Process {
  readonly name: string
  isAlive: boolean
  /** Virtual milliseconds until which the process sleeps: it does nothing and receives nothing. */
  sleepsUntilMs: number
  /** Milliseconds by which its calendar is ahead of the true time. */
  aheadMs: number
  /** The number of its timers, and of answers on their way to it. */
  planned: number
}

interface Event {
  readonly atMs: number
  readonly sequence: number
  readonly process: Process | undefined
  readonly run: () => void | Promise<void>
  isCancelled: boolean
}

/** Unix milliseconds at which a run begins, in the middle of a day and of a month. */
export const EPOCH_MS = Date.UTC(2026, 0, 14, 9)

const real = {
  setImmediate: globalThis.setImmediate,
  setTimeout: globalThis.setTimeout,
  clearTimeout: globalThis.clearTimeout,
}

/**
 * The time of a run, and its planned events. One event runs at a time, and the next event begins when all promises have come
 * to rest. So the seed alone decides what happens, and in which order.
 */
export class WorldTime {
  /** Milliseconds since the run began. */
  nowMs = 0
  /** The process whose code runs now. */
  current: Process | undefined
  /** Everything that happened, one line for each thing. */
  readonly trace: string[] = []
  /** The lines of the trace that the reader of a failure needs. */
  readonly story: string[] = []
  readonly #random: Random
  readonly #seed: number
  #heap: Event[] = []
  #sequence = 0
  #immediateMs = 0

  constructor(seed: number) {
    this.#seed = seed
    this.#random = createRandom(seed, 'time')
  }

  /** Plans an event of a process, which runs when the process is alive and awake, or an event of the world. */
  at(atMs: number, process: Process | undefined, run: Event['run']): Event {
    const event: Event = {
      atMs: Math.max(atMs, this.nowMs),
      sequence: this.#sequence++,
      process,
      run,
      isCancelled: false,
    }
    if (process) process.planned++
    this.#push(event)
    return event
  }

  after(ms: number, process: Process | undefined, run: Event['run']): Event {
    return this.at(this.nowMs + ms, process, run)
  }

  cancel(event: Event): void {
    if (!event.isCancelled && event.process) event.process.planned--
    event.isCancelled = true
  }

  /** Plans an event for the next turn of the event loop. The order is kept within a process, and random between processes. */
  nextTurn(process: Process, run: Event['run']): Event {
    this.#immediateMs = Math.max(this.#immediateMs, this.nowMs) + this.#random.between(0.001, 0.01)
    return this.at(this.#immediateMs, process, run)
  }

  /** A timer fires a part of a millisecond late. Timers of a process that are due together fire in their order. */
  timer(process: Process, ms: number, run: Event['run']): Event {
    const dueMs = Math.ceil(this.nowMs + Math.max(1, ms))
    return this.at(dueMs + createRandom(this.#seed, `${process.name}/${dueMs}`).next() / 2, process, run)
  }

  log(line: string): void {
    this.trace.push(`${this.nowMs.toFixed(3)} ${line}`)
  }

  tell(line: string): void {
    this.log(line)
    this.story.push(`${(this.nowMs / 1000).toFixed(3).padStart(8)} s  ${line}`)
  }

  /** Runs events. @returns when no event is planned up to this time any more */
  async runUntil(endMs: number): Promise<void> {
    for (;;) {
      const next = this.#heap[0]
      if (next === undefined || next.atMs > endMs) break
      this.#pop()
      if (!next.isCancelled) await this.#run(next)
    }
    this.nowMs = Math.max(this.nowMs, endMs)
  }

  async #run(event: Event): Promise<void> {
    const { process, run } = event
    this.nowMs = Math.max(this.nowMs, event.atMs)
    if (process) {
      if (!process.isAlive) return
      if (process.sleepsUntilMs > this.nowMs) {
        process.planned--
        this.at(process.sleepsUntilMs, process, () => {
          if (!event.isCancelled) return run()
        })
        return
      }
      process.planned--
      event.isCancelled = true
    }
    this.current = process
    try {
      await run()
      // Promises that this event has resolved come to rest before the next event.
      await new Promise<void>((resolve) => real.setImmediate(resolve))
    } finally {
      this.current = undefined
    }
  }

  #push(event: Event): void {
    const heap = this.#heap
    let at = heap.push(event) - 1
    while (at > 0) {
      const parent = (at - 1) >> 1
      if (!isBefore(heap[at], heap[parent])) break
      swap(heap, at, parent)
      at = parent
    }
  }

  #pop(): void {
    const heap = this.#heap
    const last = heap.pop()
    if (heap.length === 0 || last === undefined) return
    heap[0] = last
    let at = 0
    for (;;) {
      const left = 2 * at + 1
      const least = isBefore(heap[left + 1], heap[left]) ? left + 1 : left
      if (!isBefore(heap[least], heap[at])) break
      swap(heap, at, least)
      at = least
    }
  }
}

function isBefore(one: Event | undefined, other: Event | undefined): boolean {
  if (one === undefined || other === undefined) return one !== undefined
  return one.atMs < other.atMs || (one.atMs === other.atMs && one.sequence < other.sequence)
}

function swap(heap: Event[], one: number, other: number): void {
  const [first, second] = [heap[one], heap[other]]
  heap[one] = second as Event
  heap[other] = first as Event
}

let world: WorldTime | undefined

/** Switches the clocks and timers of this process to those of the run; undefined: to the real ones. */
export function enter(time: WorldTime | undefined): void {
  world = time
}

class VirtualTimer {
  #event: Event
  readonly #plan: () => Event

  constructor(plan: () => Event) {
    this.#plan = plan
    this.#event = plan()
  }

  cancel(): void {
    world?.cancel(this.#event)
  }

  refresh(): this {
    this.cancel()
    this.#event = this.#plan()
    return this
  }

  ref(): this {
    return this
  }

  unref(): this {
    return this
  }

  hasRef(): boolean {
    return true
  }
}

/**
 * Replaces the clocks, timers and random ids of this process by those of the run, while a run is entered. The code of the
 * server stays as it is: it takes most times from a `Clock`, and the rest (`setTimeout`, `setImmediate`, `performance.now`,
 * `Date.now`, the clock inside PGlite, `randomUUID`) from the globals that are replaced here. It is called once in a process,
 * which does nothing but simulate.
 */
export function takeOverGlobals(): void {
  const [realNow, realPerformanceNow] = [Date.now.bind(Date), performance.now.bind(performance)]
  const realUuid = crypto.randomUUID.bind(crypto)
  const owner = () => (world?.current === undefined ? undefined : { time: world, process: world.current })
  const calendarMs = () => (world ? EPOCH_MS + world.nowMs + (world.current?.aheadMs ?? 0) : undefined)
  Date.now = () => Math.floor(calendarMs() ?? realNow())
  performance.now = () => world?.nowMs ?? realPerformanceNow()
  let ids = 0
  crypto.randomUUID = (options) =>
    owner() ? `00000000-0000-4000-8000-${(ids++ % 2 ** 40).toString(16).padStart(12, '0')}` : realUuid(options)
  syncBuiltinESMExports()

  type Callback = (...given: unknown[]) => void
  const virtual = (isRepeated: boolean, callback: Callback, ms: number, given: unknown[]) => {
    const own = owner()
    if (!own) return undefined
    const { time, process } = own
    const plan = (): Event =>
      time.timer(process, ms, () => {
        if (isRepeated) timer.refresh()
        callback(...given)
      })
    const timer = new VirtualTimer(plan)
    return timer
  }
  const { setTimeout, setInterval, setImmediate, clearTimeout, clearInterval, clearImmediate } = globalThis
  const replaced = {
    setTimeout: (callback: Callback, ms = 0, ...given: unknown[]) => {
      const timer = virtual(false, callback, ms, given)
      // PGlite sets alarms now and then, by clocks that differ between runs. No statement here takes long enough for one.
      return timer ?? (world ? { unref: () => {} } : setTimeout(callback, ms, ...given))
    },
    setInterval: (callback: Callback, ms = 0, ...given: unknown[]) =>
      virtual(true, callback, ms, given) ?? setInterval(callback, ms, ...given),
    setImmediate: (callback: Callback, ...given: unknown[]) => {
      const own = owner()
      if (!own) return setImmediate(callback, ...given)
      return new VirtualTimer(() => own.time.nextTurn(own.process, () => callback(...given)))
    },
    clearTimeout: (timer: unknown) =>
      timer instanceof VirtualTimer ? timer.cancel() : clearTimeout(timer as NodeJS.Timeout),
    clearInterval: (timer: unknown) =>
      timer instanceof VirtualTimer ? timer.cancel() : clearInterval(timer as NodeJS.Timeout),
    clearImmediate: (timer: unknown) =>
      timer instanceof VirtualTimer ? timer.cancel() : clearImmediate(timer as NodeJS.Immediate),
  }
  Object.assign(globalThis, replaced)
}
