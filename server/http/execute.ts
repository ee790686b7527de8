import { getAddress } from 'ethers'
import type { ExecuteRequest } from '../../specs/index.ts'
import type { RelayRequest, Services } from '../core/define.ts'
import { ServiceError } from '../core/errors.ts'
import type { CallFilter } from '../services/relay-services.ts'
import type { LoadedRelay, Registry } from '../core/registry.ts'
import type { RateLimits } from '../services/rate-limits.ts'
import { relayByKeyManager } from '../services/relayer/relay-by-key-manager.ts'
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

/** Answers for each path that relay plugins serve. Clause relay.execute.post. */
export function executeAnswers({ registry, services, limits, rateLimits }: ExecuteOptions): Map<string, Answer> {
  const byPath = Map.groupBy(registry.relays, ({ plugin }) => plugin.path)
  const answerOf = (relays: readonly LoadedRelay[]): Answer => {
    const [first] = relays
    const relay = relayByKeyManager(relays, services)
    return async (exchange) => {
      await countRequests(exchange, rateLimits)
      let counted: Promise<void> | undefined
      // A call counts for its profile once, and only after its signature is verified: strangers cannot use up the
      // limit.
      const admit = (profile: string) =>
        (counted ??= countRequests(exchange, rateLimits, { subject: 'profile', key: profile }))
      const body = await readJson(exchange.request, limits, (bytes) => countBytes(exchange, rateLimits, bytes))
      if (first) assertValid(body, first.validateRequest)
      const assertValidFor = (loaded: LoadedRelay) => {
        if (loaded !== first) assertValid(body, loaded.validateRequest)
      }
      const answer = await relay(toRequest(body as ExecuteRequest), {
        requestId: exchange.requestId,
        admit,
        assertValidFor,
      })
      return JSON.stringify(answer)
    }
  }
  return new Map([...byPath].map(([path, relays]) => [path, answerOf(relays)]))
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
