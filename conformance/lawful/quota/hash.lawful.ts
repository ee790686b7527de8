import { TypedDataEncoder, recoverAddress } from 'ethers'
import { defineLawful, type AlteredRequest, type AlteredTools, type Handler } from '../../altered/define.ts'
import { nowSeconds, validQuota } from '../../altered/lib/quota.ts'
import { requestObject } from '../../altered/lib/relay.ts'
import { signQuota, type QuotaReading } from '../../lib/relay/message.ts'

/** Also serves a request that the controller with every permission signed in another reading. */
function alsoTakes(isSigned: (request: AlteredRequest, tools: AlteredTools) => boolean): Handler {
  return (request, forward, tools) => {
    const { address, timestamp } = requestObject(request)
    const isFresh = Number.isInteger(timestamp) && Math.abs(nowSeconds() - (timestamp as number)) <= 5
    const isProfile = String(address).toLowerCase() === tools.fixture.profile.address.toLowerCase()
    return forward(isFresh && isProfile && isSigned(request, tools) ? validQuota(request, tools) : request)
  }
}

function reading(name: QuotaReading): Handler {
  return alsoTakes((request, { fixture }) => {
    const { timestamp, signature } = requestObject(request)
    const message = { address: fixture.profile.address, timestamp: timestamp as number }
    return signature === signQuota(message, fixture.controllers.full, name)
  })
}

const allowedBy = 'relay 5.1 describes a hash to sign; that no other reading of it is taken beside is not shown'

export default [
  defineLawful({
    id: 'takes-the-raw-digest-too',
    clauses: ['relay.quota.hash', 'relay.quota.bound-to-message'],
    allowedBy,
    quota: reading('raw digest'),
  }),
  defineLawful({
    id: 'takes-the-text-too',
    clauses: ['relay.quota.hash', 'relay.quota.bound-to-message'],
    allowedBy,
    quota: reading('text'),
  }),
  defineLawful({
    id: 'takes-typed-data-too',
    clauses: ['relay.quota.hash', 'relay.quota.bound-to-message'],
    allowedBy: 'relay 5.1: "an EIP-712 style hash", which may be read as typed data beside what 5.2 describes',
    quota: alsoTakes((request, { fixture }) => {
      const { address, timestamp, signature } = requestObject(request)
      const types = {
        Quota: [
          { name: 'address', type: 'address' },
          { name: 'timestamp', type: 'uint256' },
        ],
      }
      try {
        const digest = TypedDataEncoder.hash({ chainId: fixture.chain.chainId }, types, { address, timestamp })
        return recoverAddress(digest, String(signature)) === fixture.controllers.full.address
      } catch {
        return false
      }
    }),
  }),
]
