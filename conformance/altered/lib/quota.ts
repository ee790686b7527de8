import { recoverAddress, hashMessage, solidityPackedKeccak256 } from 'ethers'
import type { Account } from '../../lib/fixture.ts'
import { signQuota } from '../../lib/relay/quota-message.ts'
import { withJson, type AlteredRequest, type AlteredTools } from '../define.ts'
import { bodyOf } from './relay.ts'

export function nowSeconds(): number {
  return Math.floor(Date.now() / 1000)
}

/** A request that the reference server serves, now. */
export function validQuota(request: AlteredRequest, { fixture }: AlteredTools): AlteredRequest {
  const message = { address: fixture.profile.address, timestamp: nowSeconds() }
  return withJson(request, { ...message, signature: signQuota(message, fixture.controllers.full) })
}

/** Who signed the body, if it were for this timestamp; undefined when nobody can be recovered. */
export function quotaSigner(request: AlteredRequest, timestamp: unknown): string | undefined {
  const { address, signature } = bodyOf(request)
  try {
    const packed = solidityPackedKeccak256(['address', 'uint256'], [address, timestamp])
    return recoverAddress(hashMessage(Buffer.from(packed.slice(2), 'hex')), String(signature)).toLowerCase()
  } catch {
    return undefined
  }
}

/** Whether the account signed the body, if it were for this timestamp; absent: that in the body. */
export function isQuotaSignedBy(
  account: Account,
  request: AlteredRequest,
  timestamp = bodyOf(request)['timestamp'],
): boolean {
  return quotaSigner(request, timestamp) === account.address.toLowerCase()
}

/** Whether the controller with every permission asks for its own profile. */
export function isQuotaOfFull(request: AlteredRequest, { fixture }: AlteredTools): boolean {
  const { address } = bodyOf(request)
  const isProfile = String(address).toLowerCase() === fixture.profile.address.toLowerCase()
  return isProfile && isQuotaSignedBy(fixture.controllers.full, request)
}
