import { hexlify, randomBytes, Wallet, type Signer } from 'ethers'
import { seedLogs, seedPairedLogs, type SeededLogs, seedTransactions, type SeededTransactions } from './seeds.ts'
import { permissionSets, deployProfile, handOver, setControllers, type Profile } from './profile.ts'
import { createSender } from './sender.ts'

export interface KeyPair {
  readonly address: string
  readonly privateKey: string
}

/** The controllers of the fixture's profile. `full` has all permissions, and the others lack the one in their name. */
export type FixtureControllers = Readonly<Record<keyof typeof permissionSets, KeyPair>>

/** The content of the file with which the conformance suite knows a chain and a relay. */
export interface Fixture {
  readonly chain: { readonly rpcUrl: string; readonly chainId: number }
  readonly server: { readonly relayUrl: string; readonly ethRpcBaseUrl: string }
  readonly profile: Profile
  readonly controllers: FixtureControllers
  readonly logs: SeededLogs
  readonly transactions: SeededTransactions
  /** An account with native coin. */
  readonly funder?: KeyPair
}

/** The steps that are done. A caller that keeps it can continue a run that was broken off. */
export interface ProvisionState {
  chainId?: number
  /** The account that deploys, and that owns the profile until it is handed over. */
  deployer?: string
  controllers?: FixtureControllers
  /** The profile, when it is deployed. */
  deployed?: Profile
  /** Whether the controllers are written. */
  controlled?: boolean
  /** The profile, when its key manager owns it, so that it is ready. */
  profile?: Profile
  logs?: SeededLogs
  /** Hash of the transaction that created the paired log emitters. */
  creation?: string
  transactions?: SeededTransactions
}

export interface ProvisionOptions {
  readonly rpcUrl: string
  readonly relayUrl: string
  readonly ethRpcBaseUrl: string
  /** Native coin that the profile gets, so that it can send some. */
  readonly profileFundsWei: bigint
  /** Keys of the controllers; absent: new random keys. */
  readonly controllers?: FixtureControllers
  /** The funder that the fixture names. */
  readonly funder?: KeyPair
  /** The steps that are done; each step changes it. */
  readonly state?: ProvisionState
  /** Called after each step, when `state` has it, with a description of the step. */
  readonly onProgress?: (done: string) => void
}

/**
 * Prepares any chain for the conformance suite: a profile with a key manager and three controllers, logs to page
 * through and transactions of each kind. The signer pays.
 *
 * @param signer has a provider; nobody else may use its account meanwhile
 * @throws Error if the state belongs to another chain or another signer
 */
export async function provisionFixture(signer: Signer, options: ProvisionOptions): Promise<Fixture> {
  const sender = await createSender(signer)
  const state = options.state ?? {}
  const chainId = Number((await sender.provider.getNetwork()).chainId)
  if ((state.chainId ??= chainId) !== chainId) {
    throw new Error(`what was begun belongs to chain ${state.chainId}, this is chain ${chainId}`)
  }
  if ((state.deployer ??= sender.address) !== sender.address) {
    throw new Error(`what was begun belongs to ${state.deployer}, this is ${sender.address}`)
  }
  const controllers = (state.controllers ??= options.controllers ?? randomControllers())

  const readyProfile = async (): Promise<Profile> => {
    if (state.profile) return state.profile
    if (!state.deployed) {
      state.deployed = await deployProfile(sender, options.profileFundsWei)
      options.onProgress?.(`profile ${state.deployed.address} and key manager ${state.deployed.keyManager} deployed`)
    }
    if (!state.controlled) {
      await setControllers(sender, state.deployed, permissionsOf(controllers))
      state.controlled = true
      options.onProgress?.('controllers full, noSign and noRelay written')
    }
    await handOver(sender, state.deployed, controllers.full.privateKey)
    state.profile = state.deployed
    options.onProgress?.('ownership handed to the key manager')
    return state.profile
  }
  const readyLogs = async (): Promise<SeededLogs> => {
    if (!state.logs) {
      const logs = await seedLogs(sender)
      state.logs = logs
      options.onProgress?.(`${logs.count} logs emitted by ${logs.emitter}`)
    }
    if (state.logs.paired) return state.logs
    const { creation, ...paired } = await seedPairedLogs(sender)
    options.onProgress?.(`${paired.count} logs emitted by ${paired.emitters.join(' and ')}`)
    state.creation = creation
    return (state.logs = { ...state.logs, paired })
  }
  /** Runs after everything else, because it counts the account's nonces itself. */
  const readyTransactions = async ({ emitter }: SeededLogs): Promise<SeededTransactions> => {
    if (state.transactions) return state.transactions
    const creation = state.creation === undefined ? {} : { creation: state.creation }
    state.transactions = { ...creation, ...(await seedTransactions(signer, emitter)) }
    options.onProgress?.(`transactions sent: ${Object.keys(state.transactions).join(', ')}`)
    return state.transactions
  }

  // Both use the nonces of one account. If one of them fails, the other is awaited too, so that no transaction is under way.
  const [profile, logs] = await bothOrFirstError(readyProfile(), readyLogs())
  return {
    chain: { rpcUrl: options.rpcUrl, chainId },
    server: { relayUrl: options.relayUrl, ethRpcBaseUrl: options.ethRpcBaseUrl },
    profile,
    controllers,
    logs,
    transactions: await readyTransactions(logs),
    ...(options.funder && { funder: options.funder }),
  }
}

async function bothOrFirstError<One, Other>(one: Promise<One>, other: Promise<Other>): Promise<[One, Other]> {
  await Promise.allSettled([one, other])
  return Promise.all([one, other])
}

function permissionsOf(controllers: FixtureControllers) {
  return (['full', 'noSign', 'noRelay'] as const).map((name) => ({
    address: controllers[name].address,
    permissions: permissionSets[name],
  }))
}

function randomControllers(): FixtureControllers {
  return { full: randomKeyPair(), noSign: randomKeyPair(), noRelay: randomKeyPair() }
}

/** A new key. `Wallet.createRandom` derives one from a mnemonic, which takes twenty times as long. */
export function randomKeyPair(): KeyPair {
  const { address, privateKey } = new Wallet(hexlify(randomBytes(32)))
  return { address, privateKey }
}
