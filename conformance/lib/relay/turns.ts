import { createHash, randomUUID } from 'node:crypto'
import { readFile, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import type { CheckContext } from '../context.ts'

const pollMs = 20
/** Longer than this no turn is waited for: whoever loses a race tries again. */
const longestWaitMs = 120_000
/** A lock as old as this belongs to nobody: process ids are used again. */
const staleMs = 600_000
/** Whoever waits says so this often at least. */
const waiterMs = 500

/** Takes turns with other runs on this machine, by a file. */
export interface Turns {
  /** Runs the work alone; work within the work is part of it. */
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

async function ageMs(path: string): Promise<number> {
  const found = await stat(path).catch(() => undefined)
  return found ? Date.now() - found.mtimeMs : Infinity
}

/** @param path of the lock file; runs that name the same one take turns */
export function createTurns(path: string): Turns {
  const token = `${process.pid} ${randomUUID()}`
  const waiting = `${path}.next`
  let isHeld = false

  async function isFree(): Promise<boolean> {
    const holder = await readFile(path, 'utf8').catch(() => undefined)
    if (holder === undefined) return true
    const isStale = !isAlive(Number(holder.split(' ')[0])) || (await ageMs(path)) > staleMs
    // Whoever took it over meanwhile is alive.
    if (isStale && (await readFile(path, 'utf8').catch(() => undefined)) === holder) await rm(path, { force: true })
    return isStale
  }

  async function acquire(): Promise<boolean> {
    // Another run that waits goes first.
    const next = await readFile(waiting, 'utf8').catch(() => undefined)
    if (next !== undefined && next !== token && (await ageMs(waiting)) < waiterMs) await delay(3 * pollMs)
    const deadline = performance.now() + longestWaitMs
    while (performance.now() < deadline) {
      if (await isFree()) {
        const isTaken = await writeFile(path, token, { flag: 'wx' }).then(
          () => false,
          (error: NodeJS.ErrnoException) => error.code === 'EEXIST',
        )
        if (!isTaken) return true
      }
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
      const isOurs = await acquire()
      if ((await readFile(waiting, 'utf8').catch(() => undefined)) === token) await rm(waiting, { force: true })
      isHeld = true
      try {
        return await work()
      } finally {
        isHeld = false
        if (isOurs) await release()
      }
    },
  }
}

/** Tells chains apart that share their id, as development chains do: the hash of the first block; empty: not known. */
async function markOf({ chain }: CheckContext): Promise<string> {
  const outcome = await chain.attempt('eth_getBlockByNumber', ['0x1', false])
  const hash = 'error' in outcome ? undefined : (outcome.result as { hash?: unknown } | null)?.hash
  return typeof hash === 'string' ? hash : ''
}

/**
 * The turns of a controller: its nonces in channel 0 follow each other, so that two runs must not use them at a time.
 * Runs on other machines are not seen; a race that is lost to them is tried again.
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
