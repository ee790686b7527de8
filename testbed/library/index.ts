import { readlinkSync } from 'node:fs'
import { BrowserProvider, Wallet, type Eip1193Provider, type Signer } from 'ethers'
import { createRelayClient, type RelayClient } from '../../client/index.ts'
import { startChain } from '../../contracts/chain.ts'
import { signerOnNode } from '../../contracts/deploy/signer-on-node.ts'
import type { Fixture, KeyPair } from '../../contracts/deploy/fixture.ts'
import { deployProfile, handOver, setControllers, permissionSets } from '../../contracts/deploy/profile.ts'
import { createSender } from '../../contracts/deploy/sender.ts'
import { startFaultyNode, type Fault } from '../faulty-node.ts'
import { funderOf, provisionTestbed, relayerKeysOf } from '../testbed.ts'
import { ChainControl, controlRelay } from './control.ts'

export type { Fault } from '../faulty-node.ts'
export type { Fixture, KeyPair } from '../../contracts/deploy/fixture.ts'

export interface TestbedOptions {
  /** Members of the relay's configuration, in place of the testbed's own. */
  readonly config?: Readonly<Record<string, unknown>>
  /** Runs the relay in a process of its own, so that `killRelay` can kill it. Default: in this one, which starts faster. */
  readonly process?: boolean
  /** Milliseconds by which the relay's clock is ahead. Only for a relay in this process. Default: 0. */
  readonly clockOffsetMs?: number
}

/** A profile for one test, with a controller of its own. */
export interface TestProfile {
  readonly address: string
  readonly keyManager: string
  readonly controller: KeyPair
  /** Calls the relay for this controller. */
  readonly client: RelayClient
}

/** A state of the chain and of the relay's ledger, to which `load` goes back. */
export interface TestbedState {
  readonly chain: string
  readonly ledger: string
}

/** A chain with a profile on it, and a relay in front of it, for the tests of dapps, wallets and relays. */
export interface Testbed extends AsyncDisposable {
  readonly rpcUrl: string
  readonly relayUrl: string
  /** The same chain as an EIP-1193 provider, also for `hardhat_*` methods. */
  readonly provider: Eip1193Provider
  /** The profile, its controllers and the deployed contracts. */
  readonly fixture: Fixture
  /** Calls the relay for the controller that may do everything. */
  readonly client: RelayClient
  /** Makes empty blocks. */
  mine(blocks?: number): Promise<void>
  /** Sets the seconds between blocks; null, the default: a block for each transaction, immediately. */
  setBlockTime(seconds: number | null): Promise<void>
  /** Replaces the last blocks, at most 64, by empty ones, one more than before. */
  reorg(depth: number): Promise<void>
  /** Removes the transactions that wait to be mined. @returns their hashes */
  dropTransactions(): Promise<string[]>
  /** Sets the base fee of the next block to so many times the last one. */
  spikeFees(factor: number): Promise<void>
  /** Gives the relay's node a fault, until the result is called. Other clients see the chain as it is. */
  breakNode(fault: Fault): Promise<() => Promise<void>>
  /** Stops the relay as an operator does. */
  stopRelay(): Promise<void>
  /** Kills the relay's process. It needs the option `process`. */
  killRelay(): Promise<void>
  /** Starts the relay again, at the same URL and with the same ledger. */
  startRelay(): Promise<void>
  /** Deploys another profile, whose controller has these permissions (LSP6); absent: all. */
  profile(options?: { readonly permissions?: bigint }): Promise<TestProfile>
  /** Keeps the state of chain and ledger. The relay is stopped for that, and started again. */
  dump(): Promise<TestbedState>
  /** Goes back to a state, which can be used once. @returns the same state, which can be used once more */
  load(state: TestbedState): Promise<TestbedState>
  close(): Promise<void>
}

/** Blocks after which the relay holds a call to be final. It follows reorganisations of fewer blocks. */
const CONFIRMATIONS = 12

/**
 * Starts a chain with LUKSO's contracts and a relay in front of it, on free ports. Testbeds are independent of each other.
 *
 * @example
 * await using testbed = await startTestbed()
 * const { transactionHash } = await testbed.client.execute({ to, data: '0x', value: 1n })
 */
export async function startTestbed(options: TestbedOptions = {}): Promise<Testbed> {
  assertClassesOfNode()
  const closers: (() => Promise<void>)[] = []
  const close = async () => {
    for (const closer of closers.splice(0).toReversed()) await closer()
  }
  try {
    return await start(options, closers, close)
  } catch (error) {
    await close()
    throw error
  }
}

/**
 * Some test runners put other classes in place of Node's. Then bytes that Node makes are none for ethers, and what Node throws
 * is no error for Hardhat.
 *
 * @throws TypeError
 */
function assertClassesOfNode(): void {
  if (Buffer.alloc(0) instanceof Uint8Array && thrownByNode() instanceof Error) return
  throw new TypeError(
    'a testbed cannot run beside the classes that Jest and jsdom put in place of Node’s: start it in globalSetup, or with vitest in a file that begins with // @vitest-environment node',
  )
}

function thrownByNode(): unknown {
  try {
    return readlinkSync('')
  } catch (error) {
    return error
  }
}

async function start(
  { config, process: isProcess = false, clockOffsetMs = 0 }: TestbedOptions,
  closers: (() => Promise<void>)[],
  close: () => Promise<void>,
): Promise<Testbed> {
  const node = await startChain()
  closers.push(() => node.close())
  const chain = await ChainControl.start(node.provider, node.rpcUrl)
  closers.push(() => chain.close())
  const relayNode = await startFaultyNode(chain.url)
  closers.push(() => relayNode.close())
  const development = {
    rpcUrl: relayNode.url,
    signerKeys: relayerKeysOf(node),
    config: { chain: { confirmations: CONFIRMATIONS }, ...config },
  }
  // The relay starts while the contracts are deployed.
  const provisioning = provisionTestbed(node)
  const [started] = await Promise.allSettled([
    controlRelay(development, { chainId: BigInt(node.chainId), isProcess, clockOffsetMs }),
    provisioning,
  ])
  if (started.status === 'rejected') throw started.reason
  const relay = started.value
  closers.push(() => relay.close())
  const provisioned = await provisioning
  const fixture: Fixture = {
    ...provisioned,
    chain: { ...provisioned.chain, rpcUrl: chain.url },
    server: { relayUrl: relay.url, ethRpcBaseUrl: relay.url },
  }
  const clientOf = (profile: string, { privateKey }: KeyPair) =>
    createRelayClient({ relayUrl: relay.url, node: chain.url, profile, controller: new Wallet(privateKey) })

  /** Does something while the relay does not run. */
  const meanwhile = async <Result>(work: () => Promise<Result>): Promise<Result> => {
    await relay.stop()
    const result = await work()
    await relay.start()
    return result
  }

  return {
    rpcUrl: chain.url,
    relayUrl: relay.url,
    provider: chain.provider,
    fixture,
    client: clientOf(fixture.profile.address, fixture.controllers.full),
    mine: (blocks = 1) => chain.mine(blocks),
    setBlockTime: (seconds) => chain.setBlockTime(seconds),
    reorg: (depth) => chain.reorg(depth),
    dropTransactions: () => chain.dropTransactions(),
    spikeFees: (factor) => chain.spikeFees(factor),
    breakNode: async (fault) => {
      await relayNode.setFault(fault)
      return () => relayNode.setFault(undefined)
    },
    stopRelay: () => relay.stop(),
    killRelay: () => relay.kill(),
    startRelay: () => relay.start(),
    profile: async ({ permissions = permissionSets.full } = {}) => {
      const funder = signerOnNode(new BrowserProvider(chain.provider), funderOf(node).address)
      const profile = await deployOther(funder, permissions)
      return { ...profile, client: clientOf(profile.address, profile.controller) }
    },
    dump: () => meanwhile(async () => ({ chain: await chain.snapshot(), ledger: await relay.copyLedger() })),
    load: (state) =>
      meanwhile(async () => {
        await relay.restoreLedger(state.ledger)
        return { ...state, chain: await chain.revert(state.chain) }
      }),
    close,
    [Symbol.asyncDispose]: close,
  }
}

async function deployOther(funder: Signer, permissions: bigint): Promise<Omit<TestProfile, 'client'>> {
  const sender = await createSender(funder)
  const profile = await deployProfile(sender)
  const [controller, owner] = [Wallet.createRandom(), Wallet.createRandom()]
  await setControllers(sender, profile, [
    { address: controller.address, permissions },
    // This controller hands the profile over to its key manager: the test's own controller may lack that permission.
    { address: owner.address, permissions: permissionSets.full },
  ])
  await handOver(sender, profile, owner.privateKey)
  return { ...profile, controller: { address: controller.address, privateKey: controller.privateKey } }
}
