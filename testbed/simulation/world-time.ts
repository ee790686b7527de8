import crypto from 'node:crypto'
import { syncBuiltinESMExports } from 'node:module'
import { createRandom, type Random } from './random.ts'

/** A server as the clock knows it: what it has planned ends with it, and waits while it sleeps. */
export interface Process {
  readonly name: string
  isAlive: boolean
  /** Virtual milliseconds until which it does nothing, and hears nothing. */
  sleepsUntilMs: number
  /** What its calendar says more than the true time, in milliseconds. */
  aheadMs: number
  /** Timers that are set, and answers that are on their way to it. */
  planned: number
}

interface Event {
  readonly atMs: number
  readonly sequence: number
  readonly process: Process | undefined
  readonly run: () => void | Promise<void>
  isCancelled: boolean
}

/** The calendar when a run begins: Unix milliseconds, in the middle of a day and of a month. */
export const EPOCH_MS = Date.UTC(2026, 0, 14, 9)

const real = {
  setImmediate: globalThis.setImmediate,
  setTimeout: globalThis.setTimeout,
  clearTimeout: globalThis.clearTimeout,
}

/**
 * The time of a run, and everything that is planned in it. One event runs at a time, and the next one begins when all
 * promises have come to rest: what happens, and in which order, is decided by the seed alone.
 */
export class WorldTime {
  /** Milliseconds since the run began. */
  nowMs = 0
  /** Whose code runs now. */
  current: Process | undefined
  /** Everything that happened, one line each. */
  readonly trace: string[] = []
  /** What a reader of a failure wants to know of it. */
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

  /** Plans an event. It belongs to a process, which has to be there and awake; or to the world. */
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

  /** The next turn of the event loop: in order within a process, in any order between processes. */
  nextTurn(process: Process, run: Event['run']): Event {
    this.#immediateMs = Math.max(this.#immediateMs, this.nowMs) + this.#random.between(0.001, 0.01)
    return this.at(this.#immediateMs, process, run)
  }

  /** A timer is late by a part of a millisecond; those of one process that are due together fire in their order. */
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

  /** @returns when nothing is planned before this moment any more */
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
      // Every promise that this has resolved comes to rest before the next event.
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

/** From now on the clocks and timers of this process are those of the run; undefined: the real ones again. */
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
 * Replaces the clocks, timers and random ids of this process by those of the run while one is entered. The code of the
 * server is left as it is: it takes most times from a `Clock`, and the rest (`setTimeout`, `setImmediate`,
 * `performance.now`, `Date.now`, the clock inside PGlite, `randomUUID`) from the globals that are replaced here. Once for
 * a process, which does nothing but simulate.
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
      // PGlite sets an alarm now and then, by clocks that differ in and between runs: nothing that it does here takes so long.
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
