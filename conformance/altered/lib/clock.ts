import { Wallet } from 'ethers'
import { signQuota } from '../../lib/relay/quota-message.ts'
import { withJson, type AlteredRequest, type AlteredTools, type Alteration } from '../define.ts'
import { quotaSigner } from './quota.ts'
import { bodyOf } from './relay.ts'

/** The request as it would be at the reference server's time: signed anew by whom it was signed, or by a stranger. */
function shifted(request: AlteredRequest, { fixture }: AlteredTools, seconds: number): AlteredRequest {
  const body = bodyOf(request)
  const { address, timestamp, signature } = body
  if (typeof address !== 'string' || typeof timestamp !== 'number' || !Number.isInteger(timestamp)) return request
  if (typeof signature !== 'string') return request
  const signer = quotaSigner(request, timestamp)
  const key = Object.values(fixture.controllers).find((one) => one.address.toLowerCase() === signer)
  const message = { address, timestamp: timestamp - seconds }
  try {
    return withJson(request, { ...body, ...message, signature: signQuota(message, key ?? Wallet.createRandom()) })
  } catch {
    // What is no address cannot be signed: the server refuses it as it is.
    return request
  }
}

/**
 * A service whose clock is off.
 *
 * @param seconds how far it goes ahead; negative: behind
 * @param date whether its answers tell the time
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
