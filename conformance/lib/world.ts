import { AsyncLocalStorage } from 'node:async_hooks'
import { randomBytes as realBytes } from 'node:crypto'
import { performance } from 'node:perf_hooks'
import { setTimeout as realDelay } from 'node:timers/promises'

/**
 * What a check takes from outside of itself: answers, time, chance and signatures. A run that is recorded takes all of it
 * through this interface, so that the same checks can judge the record again. `recording.ts` has the two worlds: one that
 * writes down, one that reads.
 */
export interface World {
  /** The answer to a question, as a value of JSON. `live` asks for it. Questions of one scope that are alike get their answers in order. */
  ask<T>(question: string, live: () => Promise<T>): Promise<T>
  /** The time of this machine in ms since 1970. */
  timeMs(): number
  /** 32 random bytes. */
  random(): Uint8Array
  /** The signature of an address over a digest. `live` makes it; absent: nobody has the key. */
  signature(address: string, digest: string, live: (() => string) | undefined): string
  /** The number that the present scope began with, the first time that it is asked. */
  beganWith(count: number): number
  /** The first question of the present scope to which the record has no answer; undefined: none. */
  readonly missing: string | undefined
  /** Takes over what another scope misses. */
  miss(question: string): void
  /** The world of a check, or of work that checks share: a scope has a record of its own. */
  scope(name: string): World
}

const present = new AsyncLocalStorage<World | undefined>()

/** Does some work in a world; undefined: the real one, of which nothing is written down. */
export function inWorld<T>(world: World | undefined, work: () => T): T {
  return present.run(world, work)
}

/** Does some work in a scope of the present world. */
export function inScope<T>(name: string, work: () => T): T {
  const world = present.getStore()
  return world ? present.run(world.scope(name), work) : work()
}

/** Asks the target, the chain's node or the system; the question and the answer stand in the record of the run. */
export function outside<T>(question: string, live: () => Promise<T>): Promise<T> {
  const world = present.getStore()
  return world ? world.ask(question, () => present.run(undefined, live)) : live()
}

/** The time of this machine in ms since 1970. It does not jump during a run. */
export function ourTimeMs(): number {
  return present.getStore()?.timeMs() ?? performance.timeOrigin + performance.now()
}

/** Waits for some ms. */
export function delay(ms: number): Promise<void> {
  return outside('pause', () => realDelay(ms))
}

/** @param count at most 32 */
export function randomBytes(count: number): Uint8Array {
  return (present.getStore()?.random() ?? realBytes(32)).subarray(0, count)
}

/** A random number from 0 to 1, without 1. */
export function randomFraction(): number {
  return Buffer.from(randomBytes(4)).readUInt32BE() / 2 ** 32
}

/** The signature of an address over a digest; from the record where the key is not known. */
export function signatureOf(address: string, digest: string, live: (() => string) | undefined): string {
  const world = present.getStore()
  if (world) return world.signature(address, digest, live)
  if (!live) throw new Error(`the key of ${address} is missing`)
  return live()
}

/** The number that the present scope began with, as the record has it. */
export function beganWith(count: number): number {
  return present.getStore()?.beganWith(count) ?? count
}

/** The first question of the present scope to which the record has no answer. A check that asked it cannot judge. */
export function missingInRecord(): string | undefined {
  return present.getStore()?.missing
}

/** Says that the present scope stands on work that missed something in the record. */
export function missInRecord(question: string | undefined): void {
  if (question !== undefined) present.getStore()?.miss(question)
}
