import type { RelayRequest, ResolvedProfile, Services } from '../core/define.ts'
import { ServiceError } from '../core/errors.ts'
import { servicesFor, type LoadedRelay, type Registry } from '../core/registry.ts'
import type { RateLimits } from '../services/rate-limits.ts'
import { StaleProfileError } from '../services/relayer/judge.ts'
import { assertValid, readJson, type JsonLimits } from './json-body.ts'
import { countRequests } from './rate-limit.ts'
import type { Route } from './route.ts'

export interface ExecuteOptions {
  readonly registry: Registry
  readonly services: Services
  readonly limits: JsonLimits
  readonly rateLimits: RateLimits
}

/** The body as the schema lets it pass: integers are numbers, or decimal or hex strings. */
interface RawRequest {
  readonly address: string
  readonly transaction: {
    readonly abi: string
    readonly signature: string
    readonly nonce: number | string
    readonly validityTimestamps?: number | string | null
  }
}

/** One route for each path that relay plugins serve. Clause relay.execute.post. */
export function executeRoutes({ registry, services, limits, rateLimits }: ExecuteOptions): Route[] {
  const byPath = Map.groupBy(registry.relays, ({ plugin }) => plugin.path)
  return [...byPath].map(([path, relays]) => {
    const execute = relayTo(relays, services)
    return {
      method: 'POST',
      path,
      handle: async (ctx) => {
        await countRequests(ctx, rateLimits)
        const admit = (profile: string) => countRequests(ctx, rateLimits, { subject: 'profile', key: profile })
        ctx.body = await execute(await readJson(ctx.req, limits), ctx.state.requestId, admit)
      },
    }
  })
}

function relayTo(relays: readonly LoadedRelay[], services: Services) {
  const interfaceIds = relays.flatMap(({ plugin }) => plugin.keyManagerInterfaceIds)
  const bound = relays.map((loaded) => ({ ...loaded, needs: servicesFor(loaded, services) }))
  const [first] = bound

  async function attempt(
    request: RelayRequest,
    body: unknown,
    profile: ResolvedProfile,
    requestId: string,
    admit: (profile: string) => Promise<void>,
  ) {
    const relay = bound.find(({ plugin }) => plugin.keyManagerInterfaceIds.includes(profile.interfaceId))
    if (!relay) throw new Error(`no relay plugin for ${profile.interfaceId}`)
    const { plugin, needs, options, validateRequest, validateResponse } = relay
    if (relay !== first) assertValid(body, validateRequest)
    const call = await plugin.verify(request, profile, needs, options)
    // Only now: strangers must not use up what a profile may send.
    await admit(profile.address)
    const answer = await plugin.submit({ ...call, requestId }, needs, options)
    if (!validateResponse(answer)) throw new Error(`${plugin.id} answers against its schema`)
    return answer
  }

  return async (body: unknown, requestId: string, admit: (profile: string) => Promise<void>): Promise<unknown> => {
    if (first) assertValid(body, first.validateRequest)
    const request = toRequest(body as RawRequest)
    for (let tries = 1; ; tries++) {
      const profile = await services.profiles.resolve(request.address, interfaceIds)
      try {
        return await attempt(request, body, profile, requestId, admit)
      } catch (error) {
        if (!(error instanceof StaleProfileError)) throw error
        services.profiles.forget(profile.address)
        if (tries > 1)
          throw new ServiceError('PROFILE_NOT_FOUND', 'its key manager changes right now', { cause: error })
      }
    }
  }
}

/** @throws ServiceError INVALID_REQUEST for an integer beyond 256 bits */
function toRequest({ address, transaction }: RawRequest): RelayRequest {
  const { abi, signature, nonce, validityTimestamps } = transaction
  return {
    address,
    transaction: {
      abi,
      signature,
      nonce: uint256(nonce, 'transaction/nonce'),
      validityTimestamps: uint256(validityTimestamps ?? 0, 'transaction/validityTimestamps'),
    },
  }
}

function uint256(value: number | string, field: string): bigint {
  const integer = BigInt(value)
  if (integer < 1n << 256n) return integer
  throw new ServiceError('INVALID_REQUEST', `${field} must fit into 256 bits`, {
    details: { fields: [{ field, problem: 'must fit into 256 bits' }] },
  })
}
