import { getAddress } from 'ethers'
import type { ExecuteRequest } from '../../specs/index.ts'
import type { RelayCall, RelayRequest, ResolvedProfile, Services } from '../core/define.ts'
import { ServiceError } from '../core/errors.ts'
import type { CallFilter } from '../services/ledger/relays.ts'
import { servicesFor, type LoadedRelay, type Registry } from '../core/registry.ts'
import type { RateLimits } from '../services/rate-limits.ts'
import { StaleProfileError } from '../services/relayer/judge.ts'
import type { Answer } from './fast-lane.ts'
import { assertValid, readJson, type JsonLimits } from './body.ts'
import { countBytes, countRequests } from './rate-limit.ts'
import type { Route } from './route.ts'

export interface ExecuteOptions {
  readonly registry: Registry
  readonly services: Services
  readonly limits: JsonLimits
  readonly rateLimits: RateLimits
}

/** Asked whether a call of this profile is accepted now. */
type Admission = (profile: string) => NonNullable<RelayCall['admit']>

/** Answers for each path that relay plugins serve. Clause relay.execute.post. */
export function executeAnswers({ registry, services, limits, rateLimits }: ExecuteOptions): Map<string, Answer> {
  const byPath = Map.groupBy(registry.relays, ({ plugin }) => plugin.path)
  const answerOf = (relays: readonly LoadedRelay[]): Answer => {
    const execute = relayTo(relays, services)
    return async (exchange) => {
      await countRequests(exchange, rateLimits)
      let counted: Promise<void> | undefined
      // A call counts for its profile once, and only after its signature is verified: strangers cannot use up the
      // limit.
      const countFor = (profile: string) => () =>
        (counted ??= countRequests(exchange, rateLimits, { subject: 'profile', key: profile }))
      const body = await readJson(exchange.request, limits, (bytes) => countBytes(exchange, rateLimits, bytes))
      return JSON.stringify(await execute(body, exchange.requestId, countFor))
    }
  }
  return new Map([...byPath].map(([path, relays]) => [path, answerOf(relays)]))
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
    admission: Admission,
  ) {
    const relay = bound.find(({ plugin }) => plugin.keyManagerInterfaceIds.includes(profile.interfaceId))
    if (!relay) throw new Error(`no relay plugin for ${profile.interfaceId}`)
    const { plugin, needs, options, validateRequest, validateResponse } = relay
    if (relay !== first) assertValid(body, validateRequest)
    const call = await plugin.verify(request, profile, needs, options)
    const answer = await plugin.submit({ ...call, requestId, admit: admission(profile.address) }, needs, options)
    if (!validateResponse(answer)) throw new Error(`${plugin.id} answers against its schema`)
    return answer
  }

  return async (body: unknown, requestId: string, admission: Admission): Promise<unknown> => {
    if (first) assertValid(body, first.validateRequest)
    const request = toRequest(body as ExecuteRequest)
    for (let tries = 1; ; tries++) {
      const profile = await services.profiles.resolve(request.address, interfaceIds)
      try {
        return await attempt(request, body, profile, requestId, admission)
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
function toRequest({ address, transaction }: ExecuteRequest): RelayRequest {
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
  throw invalidField(field, 'must fit into 256 bits')
}

/**
 * `GET /transactions/{hash}`: what became of a relay call, by the hash of any of its attempts. An addition. Where calls share
 * a transaction, `?profile=&signer=&nonce=` says which one is meant.
 */
export function transactionRoute({ relays }: Pick<Services, 'relays'>): Route {
  return {
    method: 'GET',
    path: '/transactions/:hash',
    handle: async (ctx) => {
      const hash = ctx.path.slice(ctx.path.lastIndexOf('/') + 1).toLowerCase()
      if (!/^0x[0-9a-f]{64}$/.test(hash)) throw new ServiceError('INVALID_REQUEST', 'the hash has 32 bytes in hex')
      const wanted = callFilter(new URLSearchParams(ctx.querystring))
      const status = await relays.status(hash, wanted)
      if (!status) {
        const isAny = Object.keys(wanted).length === 0
        throw new ServiceError(
          'NOT_FOUND',
          `no transaction ${hash} ${isAny ? 'was' : 'with this call was'} sent from here`,
        )
      }
      ctx.body = status
    },
  }
}

/** @throws ServiceError INVALID_REQUEST */
function callFilter(query: URLSearchParams): CallFilter {
  const [profile, signer, nonce] = ['profile', 'signer', 'nonce'].map((name) => query.get(name))
  if (nonce != null && !/^(?:0x[0-9a-fA-F]{1,64}|[0-9]{1,78})$/.test(nonce))
    throw invalidField('nonce', 'must be a nonce')
  return {
    ...(profile != null && { profile: addressIn('profile', profile) }),
    ...(signer != null && { signer: addressIn('signer', signer) }),
    ...(nonce != null && { nonce: uint256(nonce, 'nonce') }),
  }
}

function addressIn(field: string, text: string): string {
  if (!/^0x[0-9a-fA-F]{40}$/.test(text)) throw invalidField(field, 'must be an address')
  return getAddress(text.toLowerCase())
}

const invalidField = (field: string, problem: string) =>
  new ServiceError('INVALID_REQUEST', `${field} ${problem}`, { details: { fields: [{ field, problem }] } })
