import { recoverAddress, TypedDataEncoder } from 'ethers'
import {
  type AlteredRequest,
  type AlteredTools,
  defineLawful,
  type Handler,
  type Lawful,
  respond,
} from '../../altered/define.ts'
import {
  clockOff,
  isQuotaOfFull,
  keepsPermissions,
  nowSeconds,
  quotaSigner,
  validQuota,
} from '../../altered/lib/quota.ts'
import { limited, retryAfter, untoldLimits } from '../../altered/lib/answers.ts'
import { requestObject } from '../../altered/lib/relay.ts'
import { type QuotaReading, signQuota } from '../../lib/relay/message.ts'

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

const otherReadings = 'relay 5.1 describes a hash to sign; that no other reading of it is taken beside is not shown'

const clauses: Lawful['clauses'] = [
  'relay.quota.window',
  'relay.quota.timestamp-seconds',
  'relay.quota.timestamp-integer',
]
const whoseClock = 'relay 5.5: "within 5 seconds of the current time": whose clock tells the current time is not shown'

const hour = 3600

/** A window of its own: which distances of the timestamp from this machine's time, in seconds, it accepts. */
function window(accepts: (aheadSeconds: number) => boolean): Handler {
  return async (request, forward, tools) => {
    if (!isQuotaOfFull(request, tools)) return forward(request)
    const timestamp = requestObject(request)['timestamp']
    if (!Number.isInteger(timestamp)) return forward(request)
    const ahead = Number(timestamp) - Date.now() / 1000
    return accepts(ahead) ? forward(validQuota(request, tools)) : respond(401, { message: 'Stale timestamp' })
  }
}

export default [
  defineLawful({
    id: 'takes-listed-quota-members-alone',
    clauses: ['relay.quota.requires-address', 'relay.quota.requires-timestamp', 'relay.quota.requires-signature'],
    allowedBy: 'relay 2 lists the members of the quota request; that others are taken is not shown',
    quota: async (request, forward) =>
      Object.keys(requestObject(request)).every((name) => ['address', 'timestamp', 'signature'].includes(name))
        ? forward(request)
        : respond(400, { message: 'unknown member' }),
  }),

  defineLawful({
    id: 'takes-20-quota-requests-a-minute',
    clauses: ['relay.quota.post', 'relay.quota.requires-address', 'relay.quota.window'],
    allowedBy: 'relay 8: "Rate limits … not shown"',
    quota: limited({
      requests: 20,
      windowMs: 60_000,
      refuse: (leftMs) => respond(429, { message: 'twenty a minute' }, retryAfter(leftMs)),
    }),
  }),

  defineLawful({
    id: 'keeps-permissions-for-twenty-seconds',
    clauses: ['relay.quota.sign-permission'],
    allowedBy: 'relay 5.3: the service verifies that the signer holds SIGN; how old its knowledge may be is not shown',
    quota: keepsPermissions(20_000),
  }),

  defineLawful({
    id: 'tells-the-controllers-that-it-knows-alone',
    clauses: ['relay.quota.sign-permission'],
    allowedBy: 'relay 4: "a registered profile"; what is registered of it is not shown',
    quota(request, forward, tools) {
      const signer = quotaSigner(request, requestObject(request)['timestamp'])
      const isKnown = Object.values(tools.fixture.controllers).some(({ address }) => address.toLowerCase() === signer)
      return isKnown ? forward(request) : Promise.resolve(respond(403, { message: 'unknown controller' }))
    },
  }),

  defineLawful({
    id: 'takes-15-quota-requests-in-20-seconds-and-says-so-by-400',
    clauses: ['relay.quota.post', 'relay.quota.window'],
    allowedBy: 'relay 8: "Rate limits … not shown"',
    quota: limited({
      requests: 15,
      windowMs: 20_000,
      refuse: () => respond(400, { message: 'rate limit exceeded' }),
    }),
  }),

  ...(
    [
      ['15-quota-requests-in-20-seconds', 15, 20_000],
      ['two-quota-requests-a-second', 2, 1000],
    ] as const
  ).flatMap(([some, requests, windowMs]) =>
    untoldLimits.map(([how, refusal]) =>
      defineLawful({
        id: `takes-${some}-and-${how}`,
        clauses: ['relay.quota.post', 'relay.quota.window', 'relay.quota.sign-permission'],
        allowedBy: 'relay 7, 8: rate limits are not shown, nor what a target says that has one',
        quota: limited({ requests, windowMs, refuse: () => refusal }),
      }),
    ),
  ),

  defineLawful({
    id: 'takes-one-quota-request-a-second',
    clauses: ['relay.quota.post', 'relay.quota.window'],
    allowedBy: 'relay 8: "Rate limits … not shown"',
    quota: limited({
      requests: 1,
      windowMs: 1000,
      refuse: (leftMs) => respond(429, { message: 'one a second' }, retryAfter(leftMs)),
    }),
  }),

  defineLawful({
    id: 'takes-a-signed-quota-message-once',
    clauses: ['relay.quota.window', 'relay.quota.post', 'relay.quota.sign-permission'],
    allowedBy: 'relay 5: whether a signed message may be used again is not shown',
    async quota(request, forward, { memory }) {
      const { signature, timestamp } = requestObject(request)
      const key = JSON.stringify([signature, timestamp])
      if (memory.has(key)) return respond(401, { message: 'this message was used before' })
      const response = await forward(request)
      if (response.status === 200) memory.set(key, true)
      return response
    },
  }),

  defineLawful({
    id: 'takes-timestamps-in-ascending-order',
    clauses: ['relay.quota.window', 'relay.quota.post', 'relay.quota.timestamp-integer'],
    // Debatable: a message that is older than one already served is refused, as a protection against replays.
    allowedBy: 'relay 5: whether messages may come out of order is not shown',
    // After a younger message, an older one cannot be asked for.
    untestable: ['relay.quota.window'],
    async quota(request, forward, { memory }) {
      const { timestamp } = requestObject(request)
      const last = Number(memory.get('last') ?? 0)
      if (typeof timestamp === 'number' && timestamp < last) return respond(401, { message: 'older than the last one' })
      const response = await forward(request)
      if (response.status === 200) memory.set('last', timestamp)
      return response
    },
  }),

  defineLawful({
    id: 'hides-which-profiles-it-knows',
    clauses: ['relay.quota.sign-permission', 'relay.quota.bound-to-message'],
    allowedBy: 'relay 7: how a signer without the permission is answered is not shown',
    async quota(request, forward, { fixture }) {
      const signer = quotaSigner(request, requestObject(request)['timestamp'])
      const { full, noRelay } = fixture.controllers
      const mayAsk = [full, noRelay].some(({ address }) => signer === address.toLowerCase())
      return mayAsk ? forward(request) : respond(404, { message: 'no such profile' })
    },
  }),

  defineLawful({
    id: 'takes-the-raw-digest-too',
    clauses: ['relay.quota.hash', 'relay.quota.bound-to-message'],
    allowedBy: otherReadings,
    quota: reading('raw digest'),
  }),
  defineLawful({
    id: 'takes-the-text-too',
    clauses: ['relay.quota.hash', 'relay.quota.bound-to-message'],
    allowedBy: otherReadings,
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

  ...[2, -2, 30, -30, 300, hour, -hour].flatMap((seconds) =>
    (['with date', 'without date'] as const).map((date) =>
      defineLawful({
        id: `has-a-clock-${Math.abs(seconds)}s-${seconds > 0 ? 'ahead' : 'behind'}-${date.replace(' ', '-')}`,
        clauses,
        allowedBy: whoseClock,
        ...clockOff(seconds, date),
      }),
    ),
  ),

  defineLawful({
    id: 'measures-the-window-in-milliseconds',
    clauses,
    allowedBy: 'relay 5.5: of which precision the current time is, is not shown',
    quota: window((ahead) => Math.abs(ahead) <= 5),
  }),
  defineLawful({
    id: 'excludes-the-edges-of-the-window',
    clauses,
    allowedBy: 'relay 5.5: whether exactly 5 seconds are within 5 seconds is not shown',
    quota: window((ahead) => Math.abs(Math.ceil(ahead)) < 5),
  }),
  defineLawful({
    id: 'rounds-the-current-time',
    clauses,
    allowedBy: 'relay 5.5: of which precision the current time is, is not shown',
    quota: window((ahead) => Math.abs(Math.round(ahead)) <= 5),
  }),
  defineLawful({
    id: 'goes-by-the-time-of-a-block',
    clauses,
    allowedBy: whoseClock,
    quota: window((ahead) => Math.abs(ahead + 0.9) <= 5.1),
  }),
  defineLawful({
    id: 'verifies-a-second-late',
    clauses,
    allowedBy: 'relay 5.5: at which moment of a request the current time is read is not shown',
    async quota(request, forward) {
      await new Promise((resolve) => setTimeout(resolve, 1000))
      return forward(request)
    },
  }),
  defineLawful({
    id: 'answers-quota-late',
    clauses: ['relay.quota.window', 'relay.quota.post'],
    allowedBy: 'relay 4: how long an answer takes is not shown',
    async quota(request, forward) {
      const response = await forward(request)
      await new Promise((resolve) => setTimeout(resolve, 1500))
      return response
    },
  }),
  defineLawful({
    id: 'keeps-the-window-of-the-public-text',
    clauses,
    allowedBy: 'the public text of LSP15 gives 300 seconds: lawful in that edition',
    environment: { options: ['--edition', 'lip'] },
    quota: window((ahead) => Math.abs(Math.ceil(ahead)) <= 300),
  }),
]
