import { createHash, randomUUID } from 'node:crypto'
import { link, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import type { CheckContext } from '../clause.ts'
import { outside } from '../world.ts'

const pollMs = 20
/**
 * A run waits no longer than this for its turn. It then goes on without one, and sends a call again that loses its
 * nonce.
 */
const longestWaitMs = 120_000
/** An older lock belongs to a process that has ended, since systems use process ids again. */
const staleMs = 600_000
/** A run that waits says so at least this often. */
const waiterMs = 500

/** Lets the runs on this machine take turns by a lock file. */
export interface Turns {
  /** Does some work while no other run does. Work inside the work belongs to the same turn. */
  take<T>(work: () => Promise<T>): Promise<T>
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM'
  }
}

/** Undefined: there is no such file, or no more. */
async function ageMs(path: string): Promise<number | undefined> {
  const found = await stat(path).catch(() => undefined)
  return found && Date.now() - found.mtimeMs
}

/** @param path the lock file; runs with the same path take turns */
export function createTurns(path: string): Turns {
  const token = `${process.pid} ${randomUUID()}`
  const waiting = `${path}.next`
  let isHeld = false

  async function isFree(): Promise<boolean> {
    const holder = await readFile(path, 'utf8').catch(() => undefined)
    if (holder === undefined) return true
    const age = await ageMs(path)
    // A lock that is gone by now is free. Its run may take it again at once, so nothing is removed.
    if (age === undefined) return true
    const isStale = !isAlive(Number(holder.split(' ')[0])) || age > staleMs
    // Another run may have taken the lock since, so the file is removed only if it is still the stale one.
    if (isStale && (await readFile(path, 'utf8').catch(() => undefined)) === holder) await rm(path, { force: true })
    return isStale
  }

  /** @returns false when another run has the lock */
  async function takeLock(): Promise<boolean> {
    // A link appears with its content, so that no run ever reads a lock without its holder.
    const own = `${path}.${process.pid}.${randomUUID()}`
    try {
      await writeFile(own, token)
      await link(own, path)
      return true
    } catch (error) {
      return (error as NodeJS.ErrnoException).code !== 'EEXIST'
    } finally {
      await rm(own, { force: true })
    }
  }

  async function acquire(): Promise<boolean> {
    const isOurs = await waitForLock()
    if ((await readFile(waiting, 'utf8').catch(() => undefined)) === token) await rm(waiting, { force: true })
    return isOurs
  }

  async function waitForLock(): Promise<boolean> {
    // A run that is waiting already goes first.
    const next = await readFile(waiting, 'utf8').catch(() => undefined)
    if (next !== undefined && next !== token && ((await ageMs(waiting)) ?? Infinity) < waiterMs) await delay(3 * pollMs)
    const deadline = performance.now() + longestWaitMs
    while (performance.now() < deadline) {
      if ((await isFree()) && (await takeLock())) return true
      await writeFile(waiting, token).catch(() => undefined)
      await delay(pollMs * (0.5 + Math.random()))
    }
    return false
  }

  async function release(): Promise<void> {
    if ((await readFile(path, 'utf8').catch(() => undefined)) === token) await rm(path, { force: true })
  }

  return {
    async take(work) {
      if (isHeld) return work()
      const isOurs = await outside('turn', acquire)
      isHeld = true
      try {
        return await work()
      } finally {
        isHeld = false
        if (isOurs) await outside('end of the turn', release)
      }
    },
  }
}

/**
 * The hash of the first block, which tells apart development chains with the same id; empty when the node does not
 * tell it.
 */
async function markOf({ chain }: CheckContext): Promise<string> {
  const outcome = await chain.attempt('eth_getBlockByNumber', ['0x1', false])
  const hash = 'error' in outcome ? undefined : (outcome.result as { hash?: unknown } | null)?.hash
  return typeof hash === 'string' ? hash : ''
}

/**
 * The turns of a controller. Its nonces in channel 0 follow each other, so two runs must not use them at the same
 * time. A run on another machine is not seen: a call that loses its nonce to one is sent again.
 */
export function turnsOf(t: CheckContext): Promise<Turns> {
  return t.once('relay.turns', async (once) => {
    const { chain, profile, controllers } = once.fixture
    const mark = await markOf(once)
    const name = [chain.chainId, mark, profile.keyManager, controllers.full.address].join(' ').toLowerCase()
    const digest = createHash('sha256').update(name).digest('hex').slice(0, 16)
    return createTurns(join(tmpdir(), `touchstone-${digest}.lock`))
  })
}
