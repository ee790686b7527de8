import { setTimeout as sleep } from 'node:timers/promises'
import { startCallers } from './callers.ts'
import { waitUntilSettled, auditFromOutside, type OutsideAudit } from './audit.ts'
import { startNode, startServerProcess, type Started } from '../processes.ts'
import { bundling, provisionWorld, createRpcClient, type RpcClient } from '../relay-world.ts'

export interface ReorganisationOptions {
  readonly databaseUrl: string | null
  /** How often the chain is reorganised. */
  readonly reorganisations: number
  readonly workers?: number
  /** The pause of a worker between two calls; absent: 0. */
  readonly pauseMs?: number
  /** Whether calls share transactions, of two signers. */
  readonly bundles?: boolean
}

export interface ReorganisationResult extends OutsideAudit {
  readonly acknowledged: number
  readonly refusals: Readonly<Record<string, number>>
}

/** Reorganisations have the depths from 1 to this one, in turn. */
const DEEPEST = 6
const BLOCK_MS = 500
/** Blocks between two reorganisations. */
const BLOCKS_BETWEEN = 3
/** The load goes on until so many calls are accepted, on a slow machine after the last reorganisation. */
const LEAST_CALLS = 21
/** More blocks than any reorganisation drops. */
const CONFIRMATIONS = 12
/** Time in which the server notices the last blocks. */
const SETTLE_MS = 5_000
const SETTLE_DEADLINE_MS = 120_000

/**
 * Runs a server with four signers under load, on a chain whose last 1 to 6 blocks are replaced by empty ones again and again.
 * Audits it by the chain and by HTTP at the end. The node is anvil, because Hardhat does not reorganise.
 */
export async function runReorganisationTest(options: ReorganisationOptions): Promise<ReorganisationResult> {
  const { databaseUrl, reorganisations, workers = 8, pauseMs = 0, bundles = false } = options
  const node = await startNode('anvil')
  const chain = createRpcClient(node.url, 1)
  let server: Started | undefined
  let isOver = false
  try {
    const world = await provisionWorld(node.url)
    // No block of the fixture may be replaced.
    await chain.call('anvil_mine', `0x${DEEPEST.toString(16)}`)
    server = await startServerProcess({
      rpcUrl: node.url,
      signerKeys: bundles ? world.signerKeys.slice(0, 2) : world.signerKeys,
      config: { chain: { rpcUrls: [node.url], confirmations: CONFIRMATIONS }, ...(bundles && bundling(world)) },
      ...(databaseUrl !== null && { databaseUrl }),
    })
    const { url } = server
    await chain.call('evm_setAutomine', false)
    const going = goOn(chain, reorganisations, () => isOver)
    going.done.catch(() => {})
    const callers = startCallers({ world, workers, pauseMs, firstChannel: 1_000n, url: () => url })
    const enough = callers.more(LEAST_CALLS)
    enough.catch(() => {})
    await going.done
    // A call that is never answered is a fault beside others, so the audit of the calls before it follows.
    const unanswered = await enough
      .then(() => callers.finish())
      .then(
        () => [],
        (error: unknown) => [String(error)],
      )
    await sleep(SETTLE_MS)
    await waitUntilSettled(url, SETTLE_DEADLINE_MS)
    isOver = true
    await going.ended
    const audit = await auditFromOutside(world, url, callers.acknowledged)
    return {
      ...audit,
      faults: [...unanswered, ...audit.faults],
      acknowledged: callers.acknowledged.length,
      refusals: callers.refusals,
    }
  } finally {
    isOver = true
    await server?.kill()
    await chain.close()
    await node.close()
  }
}

/** Makes blocks and reorganisations one after the other, because anvil loses blocks when it does both at the same time. */
function goOn(chain: RpcClient, reorganisations: number, isOver: () => boolean) {
  const { promise: done, resolve, reject } = Promise.withResolvers<void>()
  const mine = async () => {
    for (let block = 1; !isOver(); block++) {
      await chain.call('anvil_mine', '0x1')
      const reorganised = Math.floor(block / BLOCKS_BETWEEN)
      if (block % BLOCKS_BETWEEN === 0 && reorganised <= reorganisations) {
        await chain.call('anvil_reorg', 1 + (reorganised % DEEPEST), [])
      }
      if (reorganised > reorganisations) resolve()
      await sleep(BLOCK_MS * (0.5 + Math.random()))
    }
  }
  const ended = mine().catch(reject)
  return { done, ended }
}
