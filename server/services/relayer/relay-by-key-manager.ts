import { getAddress } from 'ethers'
import type { RelayCall, RelayRequest, ResolvedProfile, Services } from '../../core/define.ts'
import { ServiceError } from '../../core/errors.ts'
import { servicesFor, type LoadedRelay } from '../../core/registry.ts'
import { MalformedSignatureError } from '../../ethereum/signature.ts'
// Where Services gets its members `profiles`, `relays` and `relayer`.
import type {} from '../profiles/profiles.ts'
import type {} from '../relay-services.ts'
import { identityOf } from './identity.ts'
import { StaleProfileError } from './judge.ts'

/** What the caller of a request adds to it. */
export interface RequestContext {
  /** Id of the HTTP request, for the log. */
  readonly requestId?: string
  /** Called with the profile when a controller is known to have signed. @throws ServiceError why the call is refused */
  readonly admit?: (profile: string) => Promise<void>
  /** Called with the plugin that serves the request. @throws ServiceError the request breaks the schema of the plugin */
  readonly assertValidFor?: (relay: LoadedRelay) => void
}

/** A plugin with the services that it needs. */
interface BoundRelay {
  readonly loaded: LoadedRelay
  readonly needs: ReturnType<typeof servicesFor>
}

/**
 * Relays requests by the plugin that knows the key manager of the profile, and once more when the profile turns out to
 * have another key manager than the one that is remembered. No request is refused that was accepted before, whatever has
 * become of the profile since: its caller, who perhaps heard no answer, would have the call made twice.
 *
 * @param relays of one path
 * @returns a function that returns the plugin's answer; it throws ServiceError why the call is refused
 */
export function relayByKeyManager(relays: readonly LoadedRelay[], services: Services) {
  const interfaceIds = relays.flatMap(({ plugin }) => plugin.keyManagerInterfaceIds)
  const bound = relays.map((loaded): BoundRelay => ({ loaded, needs: servicesFor(loaded, services) }))

  async function attempt(request: RelayRequest, context: RequestContext) {
    const { requestId, admit, assertValidFor } = context
    const profile = await services.profiles.resolve(request.address, interfaceIds)
    const relay = bound.find(({ loaded }) => loaded.plugin.keyManagerInterfaceIds.includes(profile.interfaceId))
    if (!relay) throw new Error(`no relay plugin for ${profile.interfaceId}`)
    const { loaded, needs } = relay
    const { plugin, options, validateResponse } = loaded
    assertValidFor?.(loaded)
    const call = await plugin.verify(request, profile, needs, options)
    const answer = await plugin.submit(
      { ...call, ...(requestId !== undefined && { requestId }), ...(admit && { admit: () => admit(profile.address) }) },
      needs,
      options,
    )
    if (!validateResponse(answer)) throw new Error(`${plugin.id} answers against its schema`)
    return answer
  }

  async function attemptTwice(request: RelayRequest, context: RequestContext) {
    for (let tries = 1; ; tries++) {
      try {
        return await attempt(request, context)
      } catch (error) {
        if (!(error instanceof StaleProfileError)) throw error
        services.profiles.forget(error.profile)
        if (tries > 1)
          throw new ServiceError('PROFILE_NOT_FOUND', 'its key manager changes right now', { cause: error })
      }
    }
  }

  return async (request: RelayRequest, context: RequestContext): Promise<{ readonly transactionHash: string }> => {
    try {
      return await attemptTwice(request, context)
    } catch (error) {
      if (!(error instanceof ServiceError)) throw error
      // Whatever the profile was, no call with this signature can have been accepted.
      if (error.cause instanceof MalformedSignatureError) throw error
      const transactionHash = await acceptedBefore(request, bound, services).catch((ledgerError: unknown) => {
        // What the ledger does not tell now, the caller must not take for a no.
        throw error.broadcast ? error : ledgerError
      })
      if (transactionHash === undefined) throw error
      return { transactionHash }
    }
  }
}

/** @returns the hash that the same request was answered with before; undefined: it was not accepted */
async function acceptedBefore(
  request: RelayRequest,
  relays: readonly BoundRelay[],
  { relays: ledger, relayer }: Services,
): Promise<string | undefined> {
  const address = getAddress(request.address.toLowerCase())
  const accepted = await ledger.accepted({ profile: address, nonce: request.transaction.nonce })
  for (const keyManager of new Set(accepted.map((known) => known.keyManager))) {
    const calls = await Promise.all(relays.map((relay) => verifiedBy(relay, request, { address, keyManager })))
    const identities = calls.map((call) => call && identityOf(relayer.chainId, call))
    const same = accepted.find(({ identity }) => identities.includes(identity))
    if (same) return same.transactionHash
  }
  return undefined
}

/** @returns the call when the profile has this key manager; undefined: the plugin refuses it */
async function verifiedBy(
  { loaded: { plugin, options }, needs }: BoundRelay,
  request: RelayRequest,
  profile: Pick<ResolvedProfile, 'address' | 'keyManager'>,
): Promise<RelayCall | undefined> {
  const [interfaceId = ''] = plugin.keyManagerInterfaceIds
  try {
    return await plugin.verify(request, { ...profile, interfaceId }, needs, options)
  } catch (error) {
    if (error instanceof ServiceError) return undefined
    throw error
  }
}
