import { concat, getAddress, id, toBeHex } from 'ethers'
import {
  bytes,
  encodeCall,
  Reader,
  word,
  keyManagerCalls,
  permissionBits,
  profileCalls,
} from '../../server/ethereum/contracts.ts'
import {
  hexBytes,
  lsp25Form,
  relayDigest,
  toHex,
  keccak,
  parseSignature,
  recoverSigner,
} from '../../server/ethereum/signature.ts'
import { bundlerInterface, decodeBundle, type BundlerCall, type BundlerResult } from '../../contracts/deploy/bundler.ts'

/** A profile with its key managers. Addresses are checksummed. */
export interface ModelProfile {
  readonly address: string
  /** The owner in the beginning. */
  readonly keyManager: string
  /** Another key manager, which the profile may be handed to. */
  readonly successor: string
  /** Permission bits (LSP6) by controller, in the beginning. */
  readonly controllers: ReadonlyMap<string, bigint>
}

/** The state that relay calls change. */
export interface ContractState {
  /** The next id by `key manager:signer:channel`. */
  readonly channels: Map<string, bigint>
  /** By profile: a switch. Some calls throw it, and the success of other calls depends on it. */
  readonly switches: Map<string, boolean>
  /** By profile: the key manager that owns it now, if that is not the first one. */
  readonly owners: Map<string, string>
  /** By `profile:controller`: permission bits that are not those of the beginning. */
  readonly permissions: Map<string, bigint>
}

/** A change that the owner of a profile makes on the chain. */
export type OwnerChange =
  | { readonly kind: 'permissions'; readonly profile: ModelProfile; readonly controller: string; readonly bits: bigint }
  | { readonly kind: 'owner'; readonly profile: ModelProfile; readonly keyManager: string }

export function applyChange({ owners, permissions }: ContractState, change: OwnerChange): void {
  const { address } = change.profile
  if (change.kind === 'owner') owners.set(address, change.keyManager)
  else permissions.set(permissionName(address, change.controller), change.bits)
}

/** The result of a call. */
export interface Execution {
  readonly success: boolean
  readonly gasUsed: bigint
  /** Result or revert data, hex. */
  readonly returnData: string
}

/** The effect of the payload of a simulated relay call. */
export type Effect = 'plain' | 'reverts' | 'throws-switch' | 'needs-switch-off'

const EFFECTS: readonly Effect[] = ['plain', 'reverts', 'throws-switch', 'needs-switch-off']
const selectorOf = (signature: string) => id(signature).slice(0, 10)
const SET_DATA = selectorOf('setData(bytes32,bytes)')
const EXECUTE = selectorOf('executeRelayCall(bytes,uint256,uint256,bytes)')
const GET_NONCE = selectorOf('getNonce(address,uint128)')
const GET_DATA = selectorOf('getData(bytes32)')
const SUPPORTS = selectorOf('supportsInterface(bytes4)')
const errors = {
  invalidNonce: selectorOf('InvalidRelayNonce(address,uint256,bytes)'),
  tooEarly: selectorOf('RelayCallBeforeStartTime()'),
  expired: selectorOf('RelayCallExpired()'),
  noPermissions: selectorOf('NoPermissionsSet(address)'),
  notAuthorised: selectorOf('NotAuthorised(address,string)'),
}
const PROFILE_IDS = ['0x24871b3d']
const KEY_MANAGER_IDS = ['0x5ac79908']
const CALL_GAS = 60_000n
const READ_GAS = 3_000n
const ID_MASK = (1n << 128n) - 1n
/** Where the mapping of nonces lies in the storage of the published LSP6 contracts. */
const NONCES_SLOT = 1n

/** The payload of the relay call with this number. No other call has the same payload. */
export const payloadOf = (number: number, effect: Effect): string =>
  encodeCall(SET_DATA, BigInt(number), BigInt(EFFECTS.indexOf(effect)))

/** The name of a relay call. Two requests with the same name are the same call. Addresses are in lower case. */
export const callName = (
  keyManager: string,
  signer: string,
  { nonce, validityTimestamps, payload }: { nonce: bigint; validityTimestamps: bigint; payload: string },
) => [keyManager, signer, nonce, validityTimestamps, payload].join(':').toLowerCase()

const permissionName = (profile: string, controller: string) => `${profile}:${controller}`
const channelName = (keyManager: string, signer: string, channel: bigint) => `${keyManager}:${signer}:${channel}`

/** The contracts of LSP0 and LSP6 as the relayer sees them, as a pure model. */
export class ContractsModel {
  readonly #chainId: bigint
  readonly #profiles = new Map<string, ModelProfile>()
  readonly #keyManagers = new Map<string, KeyManager>()
  readonly #signers = new Map<string, string>()

  constructor(chainId: bigint, profiles: readonly ModelProfile[]) {
    this.#chainId = chainId
    for (const profile of profiles) {
      this.#profiles.set(profile.address.toLowerCase(), profile)
      for (const address of [profile.keyManager, profile.successor])
        this.#keyManagers.set(address.toLowerCase(), { address, profile })
    }
  }

  /**
   * Executes a call, and changes the state unless it reverts.
   *
   * @param storage state overrides of the called contract, by slot
   */
  call(
    state: ContractState,
    { to, data, gasLimit, timestamp }: { to: string; data: string; gasLimit: bigint; timestamp: number },
    storage: Readonly<Record<string, string>> = {},
  ): Execution {
    const keyManager = this.#keyManagers.get(to.toLowerCase())
    const profile = this.#profiles.get(to.toLowerCase())
    const execution =
      keyManager && data.startsWith(EXECUTE)
        ? this.#executeRelayCall(state, keyManager, data, timestamp, storage)
        : succeeds(
            READ_GAS,
            (keyManager && readKeyManager(keyManager, state, data, storage)) ??
              (profile && readProfile(profile, state, data)),
          )
    if (execution.gasUsed <= gasLimit) return execution
    return { success: false, gasUsed: gasLimit, returnData: '0x' }
  }

  /** @returns the relay call in the call data for a key manager; undefined: there is none */
  callIn(keyManager: string, data: string): string | undefined {
    const known = this.#keyManagers.get(keyManager.toLowerCase())
    if (!known || !data.startsWith(EXECUTE)) return undefined
    const call = decodeRelayCall(data)
    return callName(known.address, this.#signerOf(known.address, call, data), call)
  }

  /** @see LSP6KeyManagerCore `_executeRelayCall`: signer, nonce, window, permissions, then the payload on the profile */
  #executeRelayCall(
    state: ContractState,
    { address: keyManager, profile }: KeyManager,
    data: string,
    timestamp: number,
    storage: Readonly<Record<string, string>>,
  ): Execution {
    const call = decodeRelayCall(data)
    const { nonce, validityTimestamps, payload } = call
    const signer = this.#signerOf(keyManager, call, data)
    const channel = channelName(keyManager, signer, nonce >> 128n)
    if ((nonce & ID_MASK) !== nextId(state, { keyManager, signer, channel: nonce >> 128n }, storage)) {
      return reverts(encodeCall(errors.invalidNonce, BigInt(signer), nonce, call.signature))
    }
    const [start, end] = [validityTimestamps >> 128n, validityTimestamps & ID_MASK]
    if (BigInt(timestamp) < start) return reverts(errors.tooEarly)
    if (end !== 0n && BigInt(timestamp) > end) return reverts(errors.expired)
    const permissions = permissionsOf(profile, state, signer)
    if (permissions === 0n) return reverts(encodeCall(errors.noPermissions, BigInt(signer)))
    if ((permissions & permissionBits.EXECUTE_RELAY_CALL) === 0n) {
      const name = `0x${Buffer.from('EXECUTE_RELAY_CALL').toString('hex')}`
      return reverts(encodeCall(errors.notAuthorised, BigInt(signer), name))
    }
    const { address } = profile
    // The profile asks its owner (LSP20), for which a former key manager is nobody.
    if (ownerOf(profile, state) !== keyManager) return reverts(encodeCall(errors.noPermissions, BigInt(keyManager)))
    const effect = EFFECTS[new Reader(`0x${payload.slice(10)}`).number(32)] ?? 'plain'
    const isOn = state.switches.get(address) === true
    if (effect === 'reverts' || (effect === 'needs-switch-off' && isOn)) return reverts('0x')
    if (effect === 'throws-switch') state.switches.set(address, !isOn)
    state.channels.set(channel, (nonce & ID_MASK) + 1n)
    return { success: true, gasUsed: CALL_GAS, returnData: '0x' }
  }

  #signerOf(keyManager: string, call: DecodedCall, data: string): string {
    const name = `${keyManager}:${data}`
    let signer = this.#signers.get(name)
    if (signer === undefined) {
      const digest = relayDigest({ keyManager, chainId: this.#chainId, ...call }, lsp25Form)
      signer = recoverSigner(digest, parseSignature(call.signature))
      this.#signers.set(name, signer)
    }
    return signer
  }
}

interface KeyManager {
  readonly address: string
  readonly profile: ModelProfile
}

const ownerOf = ({ address, keyManager }: ModelProfile, { owners }: ContractState): string =>
  owners.get(address) ?? keyManager

const permissionsOf = ({ address, controllers }: ModelProfile, state: ContractState, controller: string): bigint =>
  state.permissions.get(permissionName(address, controller)) ?? controllers.get(controller) ?? 0n

interface DecodedCall {
  readonly signature: string
  readonly nonce: bigint
  readonly validityTimestamps: bigint
  readonly payload: string
}

function decodeRelayCall(data: string): DecodedCall {
  const reader = new Reader(`0x${data.slice(10)}`)
  return {
    signature: reader.bytes(reader.number(0)),
    nonce: reader.bigint(32),
    validityTimestamps: reader.bigint(64),
    payload: reader.bytes(reader.number(96)),
  }
}

interface Channel {
  readonly keyManager: string
  readonly signer: string
  readonly channel: bigint
}

function nextId(
  state: ContractState,
  { keyManager, signer, channel }: Channel,
  storage: Record<string, string>,
): bigint {
  if (Object.keys(storage).length > 0) {
    const outer = keccak(hexBytes(`0x${word(BigInt(signer))}${word(NONCES_SLOT)}`))
    const slot = toHex(keccak(hexBytes(`0x${word(channel)}`), outer))
    const overridden = storage[slot]
    if (overridden !== undefined) return BigInt(overridden)
  }
  return state.channels.get(channelName(keyManager, signer, channel)) ?? 0n
}

function readKeyManager(
  { address: keyManager, profile }: KeyManager,
  state: ContractState,
  data: string,
  storage: Record<string, string>,
): string | undefined {
  if (data.startsWith(keyManagerCalls.target)) return word(BigInt(profile.address))
  if (data.startsWith(SUPPORTS))
    return word(BigInt(KEY_MANAGER_IDS.includes(data.slice(0, 18).replace(SUPPORTS, '0x'))))
  if (!data.startsWith(GET_NONCE)) return undefined
  const reader = new Reader(`0x${data.slice(10)}`)
  const signer = getAddress(`0x${reader.bigint(0).toString(16).padStart(40, '0')}`)
  const channel = reader.bigint(32)
  return word((channel << 128n) | nextId(state, { keyManager, signer, channel }, storage))
}

function readProfile(profile: ModelProfile, state: ContractState, data: string): string | undefined {
  if (data.startsWith(profileCalls.owner)) return word(BigInt(ownerOf(profile, state)))
  if (data.startsWith(SUPPORTS)) return word(BigInt(PROFILE_IDS.includes(data.slice(0, 18).replace(SUPPORTS, '0x'))))
  if (!data.startsWith(GET_DATA)) return undefined
  const controller = [...profile.controllers.keys()].find((one) => profileCalls.permissions(one) === data)
  const value = controller === undefined ? '0x' : `0x${word(permissionsOf(profile, state, controller))}`
  return word(32n) + bytes(value)
}

const succeeds = (gasUsed: bigint, words: string | undefined): Execution => ({
  success: words !== undefined,
  gasUsed,
  returnData: `0x${words ?? ''}`,
})

const reverts = (returnData: string): Execution => ({ success: false, gasUsed: CALL_GAS / 2n, returnData })

/** The address of `Bundler.sol` on the simulated chain. */
export const BUNDLER_ADDRESS = '0x00000000000000000000000000000000000B0d1e'

/** Gas that `Bundler.sol` keeps for its own work around a call. */
const RESERVE_GAS = 10_000n
/** Gas that `Bundler.sol` uses around a call, and for its event. */
const AROUND_GAS = 400n
const EVENT_GAS = 1_500n
/** Gas of a CALL to an address that is cold or warm in the transaction (EIP-2929). */
const COLD_GAS = 2_600n
const WARM_GAS = 100n

const BUNDLED = id('Bundled(bytes)')

/** The result of a transaction to the bundler. */
interface BundleExecution {
  readonly gasUsed: bigint
  /** The results that the bundler measured. Calls that are missing at the end were not made. */
  readonly results: readonly BundlerResult[]
  /** The result of each call, without the cost of the CALL instruction. */
  readonly executions: readonly Execution[]
}

/** The calls of a transaction to the bundler. Undefined: the transaction goes to another address. */
export function bundleIn(to: string, data: string): BundlerCall[] | undefined {
  return to.toLowerCase() === BUNDLER_ADDRESS.toLowerCase() ? decodeBundle(data) : undefined
}

/** A model of `Bundler.sol`. Each call gets its gas limit, and a call that fails does not affect the other calls. */
export function executeBundle(
  contracts: ContractsModel,
  state: ContractState,
  calls: readonly BundlerCall[],
  { gas, timestamp }: { readonly gas: bigint; readonly timestamp: number },
): BundleExecution {
  const met = new Set<string>()
  const results: BundlerResult[] = []
  const executions: Execution[] = []
  let left = gas - EVENT_GAS
  for (const { to, data, gasLimit } of calls) {
    if (left - left / 64n < gasLimit + RESERVE_GAS) break
    const execution = contracts.call(state, { to, data, gasLimit, timestamp })
    const gasUsed = execution.gasUsed + (met.has(to) ? WARM_GAS : COLD_GAS)
    met.add(to)
    left -= gasUsed + AROUND_GAS
    results.push({ success: execution.success, gasUsed })
    executions.push(execution)
  }
  return { gasUsed: gas - left, results, executions }
}

/** The event of the bundler, as a receipt holds it. */
export function bundledLog(results: readonly BundlerResult[]) {
  const records = results.map(({ success, gasUsed }) => toBeHex((BigInt(success) << 56n) | gasUsed, 8))
  const { data } = bundlerInterface.encodeEventLog('Bundled', [concat(records)])
  return { address: BUNDLER_ADDRESS.toLowerCase(), topics: [BUNDLED], data }
}
