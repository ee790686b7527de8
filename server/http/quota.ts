import type { Config, QuotaRequest } from '../../specs/index.ts'
import type { Services } from '../core/define.ts'
import { ServiceError } from '../core/errors.ts'
import type { Registry } from '../core/registry.ts'
import { validatorOf } from '../core/validate.ts'
import { personalDigest, quotaMessage, MalformedSignatureError, parseSignature } from '../ethereum/signature.ts'
import type { RateLimits } from '../services/rate-limits.ts'
import type { Recovery } from '../services/signatures/recovery.ts'
import { ownAddressMistake, quotaMisreadings, quotaTextSigners } from '../ethereum/misreadings.ts'
import { permissionBits } from '../ethereum/contracts.ts'
import type { Answer } from './fast-lane.ts'
import { assertValid, readJson, type JsonLimits } from './body.ts'
import { countBytes, countRequests } from './rate-limit.ts'

export const QUOTA_PATH = '/quota'

/** `POST /quota`: what a profile has left, told to its controllers that may sign. Clause relay.quota.post. */
export function quotaAnswer({
  registry,
  services,
  limits,
  rateLimits,
  acceptedMessages,
  windowSeconds,
}: {
  readonly registry: Registry
  readonly services: Services
  readonly limits: JsonLimits
  readonly rateLimits: RateLimits
  readonly acceptedMessages: Config['quota']['acceptedMessages']
  /** Clause relay.quota.window. */
  readonly windowSeconds: number
}): Answer {
  const { profiles, quotas, recovery, clock } = services
  const interfaceIds = registry.relays.flatMap(({ plugin }) => plugin.keyManagerInterfaceIds)
  const validator = validatorOf('all-errors')
  const validateRequest = validator.compileKey('quota/quota', 'request')
  const validateResponse = validator.compileKey('quota/quota', 'response')

  return async (exchange) => {
    await countRequests(exchange, rateLimits)
    const body = await readJson(exchange.request, limits, (bytes) => countBytes(exchange, rateLimits, bytes))
    assertValid(body, validateRequest)
    const request = body as QuotaRequest
    assertFresh(request.timestamp, clock.nowMs(), windowSeconds)
    const signer = await signerOf(request, recovery)
    const { address } = await profiles.resolve(request.address, interfaceIds).catch(withHint(request, signer))
    // The signed text contains the address as the request spells it.
    const others = acceptedMessages.includes('text')
      ? quotaTextSigners(request.address, request.timestamp, parseSignature(request.signature))
      : []
    const permissions = await profiles.permissions(address, [signer, ...others])
    if (!permissions.some((bits) => (bits & permissionBits.SIGN) !== 0n)) {
      if (permissions.every((bits) => bits === 0n)) await explainSigner(request, signer, address, services)
      throw new ServiceError('INVALID_SIGNATURE', `the signer ${signer} lacks the permission SIGN`, {
        details: { signer },
      })
    }
    const quota = await quotas.remaining(address)
    if (!validateResponse(quota)) throw new Error('the quota model answers against its schema')
    return JSON.stringify(quota)
  }
}

function assertFresh(timestamp: number, nowMs: number, windowSeconds: number): void {
  // In whole seconds, as the timestamp is.
  const serverTime = Math.floor(nowMs / 1000)
  if (Math.abs(timestamp - serverTime) <= windowSeconds) return
  const hint = timestamp > 1e11 ? ' (it looks like milliseconds)' : ''
  throw new ServiceError(
    'STALE_TIMESTAMP',
    `${timestamp} is not within ${windowSeconds} seconds of the time here${hint}`,
    { details: { timestamp, serverTime, windowSeconds } },
  )
}

/** Adds a hint when the address is the signer's own: the profile's address belongs there. */
function withHint({ address }: QuotaRequest, signer: string) {
  return (error: unknown): never => {
    if (!(error instanceof ServiceError) || error.code !== 'PROFILE_NOT_FOUND') throw error
    if (signer.toLowerCase() !== address.toLowerCase()) throw error
    const mistake = ownAddressMistake
    throw new ServiceError('PROFILE_NOT_FOUND', `${address}; ${mistake}`, { details: { likelyMistake: mistake } })
  }
}

/**
 * The signer is no controller. If a usual mistake explains that, the error names it. @throws ServiceError
 * INVALID_SIGNATURE
 */
async function explainSigner(
  { address: spelt, timestamp, signature }: QuotaRequest,
  signer: string,
  address: string,
  { profiles, chain }: Pick<Services, 'profiles' | 'chain'>,
): Promise<never> {
  const [controllers, chainId] = await Promise.all([profiles.controllers(address), chain.id()])
  const signed = { address: spelt, timestampSeconds: timestamp, chainId: BigInt(chainId), controllers }
  const readings = quotaMisreadings(signed, parseSignature(signature))
  const permissions = await profiles.permissions(
    address,
    readings.map((reading) => reading.signer),
  )
  const likely = readings.find((_, index) => (permissions[index] ?? 0n) !== 0n)
  const reason = `the signer ${signer} is no controller of ${address}`
  throw new ServiceError('INVALID_SIGNATURE', likely ? `${reason}; ${likely.mistake}` : reason, {
    details: { signer, ...(likely && { likelyMistake: likely.mistake, controller: likely.signer }) },
  })
}

/** Clauses relay.quota.hash and relay.quota.bound-to-message. */
async function signerOf({ address, timestamp, signature }: QuotaRequest, recovery: Recovery): Promise<string> {
  try {
    return await recovery.signer(personalDigest(quotaMessage(address, timestamp)), parseSignature(signature))
  } catch (error) {
    if (!(error instanceof MalformedSignatureError)) throw error
    throw new ServiceError('INVALID_SIGNATURE', error.message, { cause: error })
  }
}
