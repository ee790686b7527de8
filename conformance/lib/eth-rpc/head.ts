import { isServed, memberOf, yieldsResult } from '../answer.ts'
import type { ChainTruth } from '../chain-truth.ts'
import type { CheckContext } from '../clause.ts'
import { Fault, Untestable } from '../outcome.ts'
import { delay } from '../world.ts'
import { numberOf, quantity, readingsOf } from './values.ts'
import { inventedMethod } from './methods.ts'

/**
 * How many blocks a service may be behind another node. The document asks for "block number query". Services index a
 * block, or wait for another one, before they tell of it.
 */
export const lagBlocks = 2n

/** The number of the chain's head block. @throws Untestable */
export async function readHead(chain: ChainTruth): Promise<bigint> {
  const result = await chain.send('eth_blockNumber')
  const head = numberOf(result)
  if (head === undefined) throw new Untestable(`the chain's node has no head: ${JSON.stringify(result)}`)
  return head
}

/** How many seconds one node may be behind another. */
const lagSeconds = 6n
/** The pace of the chain is measured over this many blocks. A lag of more blocks is a fault on any chain. */
const paceBlocks = 16n

/**
 * How many blocks one node may be behind another: those that the chain makes in `lagSeconds`, by the times of its
 * blocks.
 *
 * @throws Untestable when the chain's node does not answer
 */
export async function blocksOfALag({ chain }: CheckContext): Promise<bigint> {
  const head = await readHead(chain)
  const span = head < paceBlocks ? head : paceBlocks
  const [from, to] = await Promise.all(
    [head - span, head].map(async (number) => {
      const block = (await chain.send('eth_getBlockByNumber', [quantity(number), false])) as { timestamp?: unknown }
      return numberOf(block.timestamp) ?? 0n
    }),
  )
  const seconds = (to ?? 0n) - (from ?? 0n)
  return lagBlocks + (seconds > lagSeconds ? (span * lagSeconds) / seconds : span)
}

/** A value that was asked for between two looks at the head, since heads move while a check runs. */
interface Bracketed<T> {
  readonly value: T
  readonly before: bigint
  readonly after: bigint
}

/**
 * Asks for a value between two looks at the chain's head.
 *
 * @throws Untestable when the chain's node does not answer
 */
export async function bracketed<T>(chain: ChainTruth, ask: () => Promise<T>): Promise<Bracketed<T>> {
  const before = await readHead(chain)
  const value = await ask()
  return { value, before, after: await readHead(chain) }
}

/**
 * A young block that the chain's node and the target both know: the chain's head, or the target's where it is a
 * little behind.
 *
 * @throws Untestable when the chain's node does not answer
 */
export async function knownHead(t: CheckContext): Promise<bigint> {
  const own = readingsOf(memberOf(await t.rpc.call('eth_blockNumber'), 'result'))
  const head = await readHead(t.chain)
  const behindBy = (blocks: bigint) => own.find((number) => number <= head && number + blocks >= head)
  return behindBy(lagBlocks) ?? behindBy(await blocksOfALag(t)) ?? head
}

/**
 * A young block. Without a chain it is the head that the target tells, or the first block where the target tells
 * none.
 */
export async function youngBlock(t: CheckContext): Promise<bigint> {
  if (t.hasChain) return knownHead(t)
  return numberOf(memberOf(await t.rpc.call('eth_blockNumber'), 'result')) ?? 0n
}

/** Waits between attempts. A block arrives at two nodes some seconds apart. */
const waitsMs = [200, 400, 800, 1600, 3000]
/**
 * After all waits were in vain once, later attempts wait only this often, so that a run against a broken target ends
 * in time.
 */
const shorterWaits = 3

/** How often to wait: never for a target that serves nothing, or that has a result for everything. */
async function patienceWith(t: CheckContext): Promise<{ waits: number }> {
  const serves = isServed(await t.rpc.call('eth_chainId')) && !yieldsResult(await t.rpc.call(inventedMethod))
  return { waits: serves ? waitsMs.length : 0 }
}

/**
 * Makes an attempt again until its value is right, with growing waits of 6 s in all: a target may lag for a moment.
 * A value that is right at once costs no wait.
 *
 * @returns the last value, right or not
 */
export async function eventually<T>(
  t: CheckContext,
  attempt: () => Promise<T>,
  isRight: (value: T) => boolean,
): Promise<T> {
  let value = await attempt()
  if (isRight(value)) return value
  const patience = await t.once('eth-rpc.patience', patienceWith)
  for (const waitMs of waitsMs.slice(0, patience.waits)) {
    await delay(waitMs)
    value = await attempt()
    if (isRight(value)) return value
  }
  patience.waits = Math.min(patience.waits, shorterWaits)
  return value
}

/**
 * Makes a comparison again while it fails, as `eventually` does.
 *
 * @throws Fault of the last comparison
 */
export async function inTime(t: CheckContext, compare: () => Promise<void>): Promise<void> {
  const attempt = (): Promise<Fault | undefined> =>
    compare().then(
      () => undefined,
      (error: unknown) => {
        if (error instanceof Fault) return error
        throw error
      },
    )
  const fault = await eventually(t, attempt, (found) => found === undefined)
  if (fault) throw fault
}
