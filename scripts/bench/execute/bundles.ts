import { hexlify, JsonRpcProvider, randomBytes, Wallet } from 'ethers'
import { deployFalseProfile, impostorInterface } from '../../../contracts/deploy/targets.ts'
import { createSender, type Sender } from '../../../contracts/deploy/sender.ts'
import type { Profile } from '../../../contracts/deploy/profile.ts'
import { bundleResults, transactionFor } from '../../../server/ethereum/bundle.ts'
import { waitUntilSettled } from '../../../testbed/trials/audit.ts'
import { startNode, startServerProcess, type NodeKind } from '../../../testbed/processes.ts'
import {
  bundling,
  createPoster,
  provisionWorld,
  signedCall,
  testKey,
  type RelayWorld,
  createRpcClient,
} from '../../../testbed/relay-world.ts'
import type { TransactionStatus } from '../../../specs/index.ts'
import type { Aim } from '../support/figures.ts'
import { runLoad } from '../support/load.ts'

/** Index of an account of the chain that nobody else uses. */
const SENDER = 15
const TOGETHER = 10
/** Enough for every call here. */
const GAS_LIMIT = 200_000n
const CALLS = 300
const WORKERS = 100
/** One of so many calls is poisoned. */
const POISONED_EACH = 10
/** Each poisoned profile sends so few calls, because the relay slows a profile down from its fourth call that reverts. */
const POISONED_BY_ONE = 3
/** The most blocks by which poison may delay a good call. */
const LATE_BLOCKS = 1
const SETTLED_WITHIN_MS = 60_000

/**
 * Measures the gas that a call saves when it shares its transaction with nine others. The aims are for calls that set the same
 * data key. If each call fills a new slot, the storage costs most, and a bundle does not save that.
 */
export async function measureBundleGas(): Promise<Aim[]> {
  const node = await startNode('hardhat')
  try {
    const world = await provisionWorld(node.url)
    console.log(`\n| ${TOGETHER} calls in a bundle | gas alone | in the bundle | saved |`)
    console.log('|---|---|---|---|')
    return await withWallet(node.url, async (wallet) => {
      const aims = await measureSaved(world, wallet, 'one data key', 1_000n, () => undefined)
      await measureSaved(world, wallet, 'data keys of their own', 2_000n, () => hexlify(randomBytes(32)))
      return aims
    })
  } finally {
    await node.close()
  }
}

/**
 * Sends the transactions that the relay would send.
 *
 * @param firstChannel a channel that nobody has used
 * @param dataKey gives the data key of each call; undefined: all calls set the same one
 */
async function measureSaved(
  world: RelayWorld,
  wallet: Wallet,
  what: string,
  firstChannel: bigint,
  dataKey: () => string | undefined,
): Promise<Aim[]> {
  let channel = firstChannel
  const callOf = (ofChannel: bigint, id: bigint) => ({
    to: world.fixture.profile.keyManager,
    gasLimit: GAS_LIMIT,
    data: signedCall(world, ofChannel, id, dataKey()).callData,
  })
  const gasOf = (calls: readonly ReturnType<typeof callOf>[]) => gasPerCall(world, wallet, calls)
  const many = (call: (at: number) => ReturnType<typeof callOf>) =>
    Array.from({ length: TOGETHER }, (_, at) => call(at))
  // The very first call fills slots that later calls find filled.
  await gasOf([callOf(channel++, 0n)])
  const own = [await gasOf([callOf(channel++, 0n)]), await gasOf(many(() => callOf(channel++, 0n)))] as const
  await gasOf([callOf(channel, 0n)])
  const alone = await gasOf([callOf(channel, 1n)])
  const one = [alone, await gasOf(many((at) => callOf(channel, BigInt(at) + 2n)))] as const
  return (
    [
      ['channels of their own', own, 29],
      ['one channel', one, 47],
    ] as const
  ).map(([channels, [before, after], atLeast]) => {
    const saved = ((before - after) / before) * 100
    console.log(`| ${what}, ${channels} | ${before.toFixed(0)} | ${after.toFixed(0)} | ${saved.toFixed(1)} % |`)
    return { name: `${TOGETHER} calls in a bundle, ${channels}: percent of gas saved`, value: saved, atLeast }
  })
}

/** @throws Error when one of the calls was not executed */
async function gasPerCall(
  world: RelayWorld,
  wallet: Wallet,
  calls: Parameters<typeof transactionFor>[0],
): Promise<number> {
  // The gas limit is given, because an estimate would be for a bundle that makes as few calls as possible.
  const { hash } = await wallet.sendTransaction(transactionFor(calls, world.bundler))
  const receipt = await wallet.provider?.waitForTransaction(hash)
  const results = receipt && calls.length > 1 ? bundleResults(receipt.logs, world.bundler) : [{ succeeded: true }]
  const isDone = receipt?.status === 1 && results.filter(({ succeeded }) => succeeded).length === calls.length
  if (!isDone) throw new Error(`a call of ${hash} was not executed`)
  return Number(receipt.gasUsed) / calls.length
}

/** Runs `work` with an account of the chain that nobody else uses. */
async function withWallet<Result>(rpcUrl: string, work: (wallet: Wallet) => Promise<Result>): Promise<Result> {
  const provider = new JsonRpcProvider(rpcUrl, undefined, { staticNetwork: true, cacheTimeout: -1, batchMaxCount: 1 })
  try {
    return await work(new Wallet(testKey(SENDER), provider))
  } finally {
    provider.destroy()
  }
}

/** The outcome of the calls of a run. */
interface CallsResult {
  /** Good calls that were refused or have not succeeded. */
  readonly lost: number
  readonly reverted: number
  /** The most blocks between the answer and the block of a good call. */
  readonly slowest: number
}

/**
 * Runs calls of which one in ten passes its simulation and reverts in the block. No other call may be lost, or come more than one
 * block later than without these calls.
 */
export async function measurePoison(kind: NodeKind): Promise<Aim[]> {
  const node = await startNode(kind, { blockTimeSeconds: 1 })
  try {
    const world = await provisionWorld(node.url)
    const poison = await withWallet(node.url, async (wallet) => deployPoison(await createSender(wallet)))
    const server = await startServerProcess({ rpcUrl: node.url, signerKeys: world.signerKeys, config: bundling(world) })
    try {
      const clean = await runCalls(world, server.url, 1n)
      const poisoned = await runCalls(world, server.url, 2n, poison)
      const name = `${kind}, one call in ${POISONED_EACH} poisoned`
      console.log(
        `\n${name}: ${poisoned.reverted} revert; the slowest good call is mined ${poisoned.slowest} blocks after its answer, ` +
          `without poison ${clean.slowest}`,
      )
      return [
        { name: `${name}: calls that revert`, value: poisoned.reverted, atLeast: CALLS / POISONED_EACH },
        { name: `${name}: good calls lost`, value: clean.lost + poisoned.lost, atMost: 0 },
        {
          name: `${name}: blocks that a good call is late`,
          value: poisoned.slowest - clean.slowest,
          atMost: LATE_BLOCKS,
        },
      ]
    } finally {
      await server.close()
    }
  } finally {
    await node.close()
  }
}

/** Deploys profiles whose calls succeed when they are tried, and revert when they are mined. */
async function deployPoison(sender: Sender): Promise<Profile[]> {
  const count = CALLS / POISONED_EACH / POISONED_BY_ONE
  const profiles = await Promise.all(Array.from({ length: count }, () => deployFalseProfile(sender)))
  const data = impostorInterface.encodeFunctionData('mislead', [true])
  await Promise.all(profiles.map(async ({ keyManager }) => sender.mined(await sender.send({ to: keyManager, data }))))
  return profiles
}

/** @param poison the profiles that one call in ten goes to; absent: no call is poisoned */
async function runCalls(
  world: RelayWorld,
  url: string,
  round: bigint,
  poison?: readonly Profile[],
): Promise<CallsResult> {
  const node = createRpcClient(world.rpcUrl, 1)
  const relay = createPoster(url, WORKERS)
  const answered: { readonly path: string; readonly isGood: boolean; readonly head: number }[] = []
  let next = 0n
  try {
    const { failed } = await runLoad({ workers: WORKERS, tasks: CALLS }, async () => {
      const index = next++
      const profile =
        Number(index) % POISONED_EACH === 0 ? poison?.[(Number(index) / POISONED_EACH) % poison.length] : undefined
      const fixture = profile ? { ...world.fixture, profile } : world.fixture
      const { body, nonce } = signedCall({ ...world, fixture }, round * 1_000_000n + index, 0n)
      const { transactionHash } = await relay.execute(body)
      const head = Number(await node.call('eth_blockNumber'))
      const path = `/transactions/${String(transactionHash)}?profile=${fixture.profile.address}&nonce=${nonce}`
      answered.push({ path, isGood: profile === undefined, head })
    })
    await waitUntilSettled(url, SETTLED_WITHIN_MS)
    const result = { lost: failed, reverted: 0, slowest: 0 }
    for (const { path, isGood, head } of answered) {
      const { status, block } = (await (await fetch(url + path)).json()) as TransactionStatus
      if (status === 'reverted') result.reverted++
      if (isGood && status !== 'succeeded') result.lost++
      if (isGood && block) result.slowest = Math.max(result.slowest, block.number - head)
    }
    return result
  } finally {
    await relay.close()
    await node.close()
  }
}
