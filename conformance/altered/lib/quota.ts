import { hashMessage, recoverAddress, solidityPackedKeccak256, Wallet } from 'ethers'
import type { Account } from '../../lib/fixture.ts'
import { signQuota } from '../../lib/relay/message.ts'
import { type Alteration, type AlteredRequest, type AlteredTools, withJson } from '../define.ts'
import { requestObject } from './relay.ts'

export function nowSeconds(): number {
  return Math.floor(Date.now() / 1000)
}

/** A request that the reference server serves at this moment. */
export function validQuota(request: AlteredRequest, { fixture }: AlteredTools): AlteredRequest {
  const message = { address: fixture.profile.address, timestamp: nowSeconds() }
  return withJson(request, { ...message, signature: signQuota(message, fixture.controllers.full) })
}

/** The address that signed the body for this timestamp; undefined when none can be recovered. */
export function quotaSigner(request: AlteredRequest, timestamp: unknown): string | undefined {
  const { address, signature } = requestObject(request)
  try {
    const packed = solidityPackedKeccak256(['address', 'uint256'], [address, timestamp])
    return recoverAddress(hashMessage(Buffer.from(packed.slice(2), 'hex')), String(signature)).toLowerCase()
  } catch {
    return undefined
  }
}

/** Whether the account signed the body for this timestamp; absent: the timestamp in the body. */
export function isQuotaSignedBy(
  account: Account,
  request: AlteredRequest,
  timestamp = requestObject(request)['timestamp'],
): boolean {
  return quotaSigner(request, timestamp) === account.address.toLowerCase()
}

/** Whether the controller with every permission asks for its own profile. */
export function isQuotaOfFull(request: AlteredRequest, { fixture }: AlteredTools): boolean {
  const { address } = requestObject(request)
  const isProfile = String(address).toLowerCase() === fixture.profile.address.toLowerCase()
  return isProfile && isQuotaSignedBy(fixture.controllers.full, request)
}

/**
 * The request with the time of the reference server. The same controller signs it again; for another signer, a
 * stranger does.
 */
function shifted(request: AlteredRequest, { fixture }: AlteredTools, seconds: number): AlteredRequest {
  const body = requestObject(request)
  const { address, timestamp, signature } = body
  if (typeof address !== 'string' || typeof timestamp !== 'number' || !Number.isInteger(timestamp)) return request
  if (typeof signature !== 'string') return request
  const signer = quotaSigner(request, timestamp)
  const key = Object.values(fixture.controllers).find((one) => one.address.toLowerCase() === signer)
  const message = { address, timestamp: timestamp - seconds }
  try {
    return withJson(request, { ...body, ...message, signature: signQuota(message, key ?? Wallet.createRandom()) })
  } catch {
    // A value that is no address cannot be signed, so the server gets the request as it is.
    return request
  }
}

/**
 * A service whose clock is off.
 *
 * @param seconds how far the clock is ahead; negative: behind
 * @param date whether answers have a Date header
 */
export function clockOff(seconds: number, date: 'with date' | 'without date'): Alteration {
  return {
    async every(request, forward) {
      const response = await forward(request)
      const headers = Object.fromEntries(Object.entries(response.headers).filter(([name]) => name !== 'date'))
      const told = date === 'with date' ? { date: new Date(Date.now() + seconds * 1000).toUTCString() } : {}
      return { ...response, headers: { ...headers, ...told } }
    },
    quota: (request, forward, tools) => forward(shifted(request, tools, seconds)),
  }
}
