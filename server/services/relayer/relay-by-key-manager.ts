import type { RelayRequest, Services } from '../../core/define.ts'
import { ServiceError } from '../../core/errors.ts'
import { servicesFor, type LoadedRelay } from '../../core/registry.ts'
// Where Services gets its member `profiles`.
import type {} from '../profiles/profiles.ts'
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

/**
 * Relays requests by the plugin that knows the key manager of the profile, and once more when the profile turns out to
 * have another key manager than the one that is remembered.
 *
 * @param relays of one path
 * @returns a function that returns the plugin's answer; it throws ServiceError why the call is refused
 */
export function relayByKeyManager(relays: readonly LoadedRelay[], services: Services) {
  const interfaceIds = relays.flatMap(({ plugin }) => plugin.keyManagerInterfaceIds)
  const bound = relays.map((loaded) => ({ loaded, needs: servicesFor(loaded, services) }))

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

  return async (request: RelayRequest, context: RequestContext): Promise<{ readonly transactionHash: string }> => {
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
}
