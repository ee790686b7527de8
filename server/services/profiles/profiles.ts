import { getAddress } from 'ethers'
import type { RelayCall, ResolvedProfile } from '../../core/define.ts'
import { ServiceError } from '../../core/errors.ts'
import { keyManagerCalls, profileCalls } from '../../ethereum/contracts.ts'
import type { Outcome, SequenceRunner, Step } from '../simulator/sequences.ts'
import { addressIn, permissionsIn, type Parties } from '../simulator/simulator.ts'

/** Profiles as they stand on the chain. */
export interface Profiles {
  /**
   * Finds the profile's key manager, and verifies that each knows the other: without that, anyone's contract would
   * spend the relayer's gas. The answer may be as old as `forget`; a simulation reads owner and target anew.
   *
   * @param interfaceIds ERC-165 ids of key managers, the preferred one first
   * @throws ServiceError PROFILE_NOT_FOUND, UPSTREAM_UNAVAILABLE
   */
  resolve(address: string, interfaceIds: readonly string[]): Promise<ResolvedProfile>
  /** Drops what is remembered of a profile, because its owner has changed. */
  forget(address: string): void
  /**
   * Permission bits (LSP6) of controllers on a profile.
   *
   * @throws ServiceError UPSTREAM_UNAVAILABLE
   */
  permissions(profile: string, controllers: readonly string[]): Promise<bigint[]>
  /**
   * The owner of the call's profile, the target of its key manager and the permissions of its signer, in one block.
   *
   * @throws ServiceError UPSTREAM_UNAVAILABLE
   */
  parties(call: Pick<RelayCall, 'profile' | 'keyManager' | 'signer'>): Promise<Required<Parties>>
  /**
   * The first controllers (LSP6) that the profile lists, {@link MOST_LISTED} at most: enough to explain a mistake. Who
   * may do what is known by `permissions` alone.
   *
   * @returns checksummed addresses
   * @throws ServiceError UPSTREAM_UNAVAILABLE
   */
  controllers(profile: string): Promise<string[]>
}

declare module '../../core/define.ts' {
  interface Services {
    profiles: Profiles
  }
}

/** ERC-165 ids of LSP0 by the contracts' version. */
const profileInterfaceIds = ['0x24871b3d', '0x3e89ad98', '0x66767497', '0xeb6be62e', '0x9a3bfe88']
/** Names of key managers by ERC-165 id, for the error about one that no relay plugin supports. */
const keyManagerNames: Readonly<Record<string, string>> = {
  '0x5ac79908': 'LSP25',
  '0x23f34c62': 'LSP6 since 0.12 (0x23f34c62)',
  '0x66918867': 'LSP6 of 0.11 (0x66918867)',
  '0x06561226': 'LSP6 of 0.11 (0x06561226)',
  '0x38bb3cdb': 'LSP6 of 0.10 (0x38bb3cdb)',
  '0xfb437414': 'LSP6 of 0.8 (0xfb437414)',
  '0xc403d48f': 'LSP6 of 0.6 or 0.7 (0xc403d48f)',
  '0x32e6d0ab': 'LSP6 before 0.6 (0x32e6d0ab)',
  '0x6f4df48b': 'LSP6 of 0.5 (0x6f4df48b)',
}
const GAS_FOR_A_READ = 300_000n
const MOST_LISTED = 16
/** The most profiles that are remembered, so that a flood of addresses does not fill the memory. */
const MAX_REMEMBERED = 10_000

export function createProfiles({ runner }: { runner: SequenceRunner }): Profiles {
  const remembered = new Map<string, Promise<ResolvedProfile>>()

  async function read(steps: readonly (readonly [to: string, data: string])[]): Promise<Outcome[]> {
    const sequence = steps.map(([to, data]): Step => ({ to, data, gasLimit: GAS_FOR_A_READ }))
    const [outcomes = []] = await runner.run({ sequences: [sequence] })
    return outcomes
  }

  return {
    resolve: (anyCase, interfaceIds) => {
      const key = keyOf(anyCase, interfaceIds.join())
      let found = remembered.get(key)
      if (!found) {
        found = find(read, getAddress(anyCase.toLowerCase()), interfaceIds)
        if (remembered.size >= MAX_REMEMBERED) remembered.clear()
        remembered.set(key, found)
        found.catch(() => remembered.delete(key))
      }
      return found
    },
    forget: (address) => {
      const prefix = keyOf(address, '')
      for (const key of remembered.keys()) if (key.startsWith(prefix)) remembered.delete(key)
    },
    permissions: async (profile, controllers) => {
      const outcomes = await read(controllers.map((controller) => [profile, profileCalls.permissions(controller)]))
      return controllers.map((_, index) => permissionsIn(outcomes[index]))
    },
    parties: async ({ profile, keyManager, signer }) => {
      const [owner, target, permissions] = await read([
        [profile, profileCalls.owner],
        [keyManager, keyManagerCalls.target],
        [profile, profileCalls.permissions(signer)],
      ])
      return { owner: addressIn(owner), target: addressIn(target), permissions: permissionsIn(permissions) }
    },
    controllers: async (profile) => {
      const outcomes = await read(
        Array.from({ length: MOST_LISTED }, (_, index) => [profile, profileCalls.controller(index)]),
      )
      return outcomes.flatMap(({ success, returnData }) => {
        // `bytes` of 20: offset, length, and the address with padding behind it.
        const [, digits] = /^0x0{62}200{62}14([0-9a-f]{40})/.exec(returnData) ?? []
        return success && digits !== undefined ? [getAddress(`0x${digits}`)] : []
      })
    },
  }
}

/**
 * Reads who owns the profile, and what that key manager says of itself: see `resolve`.
 *
 * @param read calls contracts, one after the other
 */
async function find(
  read: (steps: readonly (readonly [to: string, data: string])[]) => Promise<Outcome[]>,
  address: string,
  interfaceIds: readonly string[],
): Promise<ResolvedProfile> {
  const [ownerRead, ...isProfile] = await read([
    [address, profileCalls.owner],
    ...profileInterfaceIds.map((id) => [address, profileCalls.supportsInterface(id)] as const),
  ])
  const owner = addressIn(ownerRead)
  if (owner === null || !isProfile.some(isTrue)) throw notFound(`${address} is no profile (LSP0)`)

  // No published contract is profile and key manager in one, and somebody could deploy such contracts by the hundred.
  if (owner === address) throw notFound(`${address} is its own owner, and no key manager`)
  const known = [...new Set([...interfaceIds, ...Object.keys(keyManagerNames)])]
  const [targetRead, ...supported] = await read([
    [owner, keyManagerCalls.target],
    ...known.map((id) => [owner, profileCalls.supportsInterface(id)] as const),
  ])
  const ids = known.filter((_, index) => isTrue(supported[index]))
  if (ids.length === 0) throw notFound(`the owner of ${address} is no key manager (LSP6)`, { owner })
  if (addressIn(targetRead) !== address) {
    throw notFound(`the key manager that owns ${address} controls another profile`, { keyManager: owner })
  }
  const interfaceId = interfaceIds.find((id) => ids.includes(id))
  if (interfaceId === undefined) {
    const version = ids.map((id) => keyManagerNames[id] ?? id).join(', ')
    throw notFound(`its key manager is of a version that is not relayed for: ${version}`, { keyManager: owner })
  }
  return { address, keyManager: owner, interfaceId }
}

const keyOf = (address: string, interfaceIds: string) => `${address.toLowerCase()}:${interfaceIds}`

const isTrue = (outcome: Outcome | undefined) =>
  outcome?.success === true && outcome.returnData.length === 66 && BigInt(outcome.returnData) === 1n

const notFound = (reason: string, details: Record<string, unknown> = {}) =>
  new ServiceError('PROFILE_NOT_FOUND', reason, { details })
