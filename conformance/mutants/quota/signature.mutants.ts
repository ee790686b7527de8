import { defineMutant, respond } from '../../altered/define.ts'
import { isQuotaSignedBy, nowSeconds, quotaSigner, validQuota } from '../../altered/lib/quota.ts'
import { requestObject } from '../../altered/lib/relay.ts'

export default [
  defineMutant({
    clause: 'relay.quota.sign-permission',
    fault: 'any controller is served, with SIGN or without',
    quota: (request, forward, tools) =>
      forward(isQuotaSignedBy(tools.fixture.controllers.noSign, request) ? validQuota(request, tools) : request),
  }),

  defineMutant({
    clause: 'relay.quota.sign-permission',
    name: 'stranger',
    fault: 'anyone who signs is served, except for controllers without SIGN',
    quota(request, forward, tools) {
      const { address, timestamp } = requestObject(request)
      const { controllers, profile } = tools.fixture
      const signer = quotaSigner(request, timestamp)
      const isStranger =
        signer !== undefined && !Object.values(controllers).some((one) => one.address.toLowerCase() === signer)
      return forward(isStranger && address === profile.address ? validQuota(request, tools) : request)
    },
  }),

  defineMutant({
    clause: 'relay.quota.bound-to-message',
    fault: 'a signature over the second before is taken',
    quota(request, forward, tools) {
      const before = Number(requestObject(request)['timestamp']) - 1
      return forward(
        isQuotaSignedBy(tools.fixture.controllers.full, request, before) ? validQuota(request, tools) : request,
      )
    },
  }),

  defineMutant({
    clause: 'relay.quota.bound-to-message',
    name: 'unread',
    fault: 'the signature is not looked at',
    quota(request, forward, tools) {
      const { address, timestamp, signature } = requestObject(request)
      const isFresh = typeof timestamp === 'number' && Math.abs(nowSeconds() - timestamp) <= 5
      const isWhole = address === tools.fixture.profile.address && typeof signature === 'string'
      return forward(isFresh && isWhole ? validQuota(request, tools) : request)
    },
  }),

  defineMutant({
    clause: 'relay.quota.sign-permission',
    name: 'other-address',
    fault: 'a controller of one profile is served for any other address that it signs',
    quota(request, forward, tools) {
      const isOther = requestObject(request)['address'] !== tools.fixture.profile.address
      const isFull = isQuotaSignedBy(tools.fixture.controllers.full, request)
      return forward(isOther && isFull ? validQuota(request, tools) : request)
    },
  }),

  defineMutant({
    clause: 'relay.quota.sign-permission',
    name: 'wants-relay',
    fault: 'a controller that holds SIGN and may not relay is refused',
    quota: async (request, forward, tools) =>
      isQuotaSignedBy(tools.fixture.controllers.noRelay, request)
        ? respond(403, { message: 'Not authorised' })
        : forward(request),
  }),

  defineMutant({
    clause: 'relay.quota.bound-to-message',
    name: 'last-minute',
    fault: 'a signature over any second of the last minute is taken',
    quota(request, forward, tools) {
      const timestamp = Number(requestObject(request)['timestamp'])
      const { full } = tools.fixture.controllers
      const before = Array.from({ length: 60 }, (_, back) => timestamp - back)
      const takeOver =
        requestObject(request)['address'] === tools.fixture.profile.address &&
        before.some((second) => isQuotaSignedBy(full, request, second))
      return forward(takeOver ? validQuota(request, tools) : request)
    },
  }),

  defineMutant({
    clause: 'relay.quota.bound-to-message',
    name: 'last-digit',
    fault: 'of the signed timestamp the last digit is not looked at',
    quota(request, forward, tools) {
      const timestamp = Number(requestObject(request)['timestamp'])
      const { full } = tools.fixture.controllers
      const tens = Math.floor(timestamp / 10) * 10
      const takeOver =
        Number.isInteger(timestamp) &&
        requestObject(request)['address'] === tools.fixture.profile.address &&
        Array.from({ length: 10 }, (_, digit) => tens + digit).some((second) => isQuotaSignedBy(full, request, second))
      return forward(takeOver ? validQuota(request, tools) : request)
    },
  }),

  defineMutant({
    clause: 'relay.quota.bound-to-message',
    name: 'known-signature',
    fault: 'a signature that was served once is served with any other timestamp of now',
    async quota(request, forward, tools) {
      const { signature, timestamp } = requestObject(request)
      const isFresh = typeof timestamp === 'number' && Math.abs(nowSeconds() - timestamp) <= 5
      const isKnown = tools.memory.has(String(signature)) && isFresh
      const response = await forward(isKnown ? validQuota(request, tools) : request)
      if (response.status === 200) tools.memory.set(String(signature), true)
      return response
    },
  }),

  ...(
    [
      ['relay.quota.bound-to-message', 'cached'],
      ['relay.quota.sign-permission', 'cached'],
    ] as const
  ).map(([clause, name]) =>
    defineMutant({
      clause,
      name,
      fault: 'what was told is told to anybody for the next ten seconds, from a cache by address',
      async quota(request, forward, { memory, fixture }) {
        const { address, timestamp, signature } = requestObject(request)
        const kept = memory.get('kept') as { untilMs: number; json: unknown } | undefined
        const isWhole = typeof timestamp === 'number' && typeof signature === 'string'
        if (kept && isWhole && address === fixture.profile.address && Date.now() < kept.untilMs) {
          return respond(200, kept.json)
        }
        const response = await forward(request)
        if (response.status === 200) memory.set('kept', { untilMs: Date.now() + 10_000, json: response.json })
        return response
      },
    }),
  ),
]
