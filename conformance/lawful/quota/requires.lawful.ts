import { defineLawful, respond } from '../../altered/define.ts'
import { limited, retryAfter } from '../../altered/lib/refusals.ts'
import { requestObject } from '../../altered/lib/relay.ts'

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
    id: 'takes-one-quota-request-a-second',
    clauses: ['relay.quota.post', 'relay.quota.window'],
    allowedBy: 'relay 8: "Rate limits … not shown"',
    quota: limited({
      requests: 1,
      windowMs: 1000,
      refuse: (leftMs) => respond(429, { message: 'one a second' }, retryAfter(leftMs)),
    }),
  }),
]
