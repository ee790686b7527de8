import { isAddress, ZeroAddress } from 'ethers'
import { type AlteredTools, defineMutant, respond, withJson } from '../../altered/define.ts'
import { knowsNoLowerCase, trustsWhatItHasSeen } from '../../altered/lib/answers.ts'
import {
  isQuotaOfFull,
  isQuotaSignedBy,
  keepsPermissions,
  nowSeconds,
  quotaSigner,
  validQuota,
} from '../../altered/lib/quota.ts'
import { requestObject } from '../../altered/lib/relay.ts'
import { signQuota } from '../../lib/relay/message.ts'

export default [
  defineMutant({
    clause: 'relay.quota.requires-address',
    fault: 'a missing address is that of the only profile',
    quota(request, forward, tools) {
      const { timestamp, signature, address } = requestObject(request)
      const isMissing = address === undefined && timestamp !== undefined && signature !== undefined
      return forward(isMissing ? validQuota(request, tools) : request)
    },
  }),

  defineMutant({
    clause: 'relay.quota.requires-timestamp',
    fault: 'a missing timestamp is now',
    quota(request, forward, tools) {
      const { address, signature, timestamp } = requestObject(request)
      const isMissing = timestamp === undefined && address !== undefined && signature !== undefined
      return forward(isMissing ? validQuota(request, tools) : request)
    },
  }),

  defineMutant({
    clause: 'relay.quota.requires-signature',
    fault: 'a request without a signature is trusted',
    quota(request, forward, tools) {
      const { address, timestamp, signature } = requestObject(request)
      const isMissing = signature === undefined && address !== undefined && timestamp !== undefined
      return forward(isMissing ? validQuota(request, tools) : request)
    },
  }),

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
    clause: 'relay.quota.sign-permission',
    name: 'kept',
    fault: 'permissions are read once: a controller that has lost SIGN is served ever after',
    quota: keepsPermissions(Infinity),
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

  defineMutant({
    clause: 'relay.quota.hash',
    fault: 'the hash is signed as it is, without the prefix of a personal message',
    async quota(request, forward, tools) {
      const { address, timestamp, signature } = requestObject(request)
      const { full } = tools.fixture.controllers
      if (!isAddress(address) || !Number.isInteger(timestamp)) return forward(request)
      const expected = signQuota({ address, timestamp: timestamp as number }, full, 'raw digest')
      const isFresh = Math.abs(nowSeconds() - (timestamp as number)) <= 5
      return signature === expected && isFresh
        ? forward(validQuota(request, tools))
        : respond(401, { message: 'Invalid signature' })
    },
  }),

  defineMutant({
    clause: 'relay.quota.window',
    fault: 'a timestamp of the last minute or the next one is taken',
    async quota(request, forward, tools) {
      if (!isQuotaOfFull(request, tools)) return forward(request)
      const ahead = Number(requestObject(request)['timestamp']) - nowSeconds()
      return Math.abs(ahead) <= 60 ? forward(validQuota(request, tools)) : respond(401, { message: 'Stale timestamp' })
    },
  }),

  defineMutant({
    clause: 'relay.quota.window',
    name: 'future',
    fault: 'a timestamp may be as old as it likes',
    async quota(request, forward, tools) {
      if (!isQuotaOfFull(request, tools)) return forward(request)
      const ahead = Number(requestObject(request)['timestamp']) - nowSeconds()
      return ahead <= 5 ? forward(validQuota(request, tools)) : respond(401, { message: 'Stale timestamp' })
    },
  }),

  defineMutant({
    clause: 'relay.quota.window',
    name: 'narrow',
    fault: 'a timestamp may be one second off',
    async quota(request, forward, tools) {
      if (!isQuotaOfFull(request, tools)) return forward(request)
      const ahead = Number(requestObject(request)['timestamp']) - nowSeconds()
      return Math.abs(ahead) <= 1 ? forward(validQuota(request, tools)) : respond(401, { message: 'Stale timestamp' })
    },
  }),

  defineMutant({
    clause: 'relay.quota.window',
    name: 'past',
    fault: 'a timestamp may lie as far ahead as it likes',
    async quota(request, forward, tools) {
      if (!isQuotaOfFull(request, tools)) return forward(request)
      const ahead = Number(requestObject(request)['timestamp']) - nowSeconds()
      return ahead >= -5 ? forward(validQuota(request, tools)) : respond(401, { message: 'Stale timestamp' })
    },
  }),

  defineMutant({
    clause: 'relay.quota.timestamp-seconds',
    fault: 'milliseconds are taken as well',
    quota(request, forward, tools) {
      const seconds = Number(requestObject(request)['timestamp']) / 1000
      const isFresh = Math.abs(seconds - nowSeconds()) <= 5
      const takeOver = isFresh && isQuotaOfFull(request, tools)
      return forward(takeOver ? validQuota(request, tools) : request)
    },
  }),

  defineMutant({
    clause: 'relay.quota.timestamp-integer',
    fault: 'a string, or an array that holds a number, is made a number',
    quota(request, forward) {
      const body = requestObject(request)
      const { timestamp } = body
      const isOther = typeof timestamp === 'string' || Array.isArray(timestamp)
      return forward(isOther ? withJson(request, { ...body, timestamp: Number(timestamp) }) : request)
    },
  }),

  defineMutant({
    clause: 'relay.quota.timestamp-integer',
    name: 'boolean',
    fault: 'true means now',
    quota: (request, forward, tools) =>
      forward(requestObject(request)['timestamp'] === true ? validQuota(request, tools) : request),
  }),

  defineMutant({
    clause: 'relay.quota.timestamp-integer',
    name: 'fraction',
    fault: 'a fraction is rounded down',
    quota(request, forward) {
      const body = requestObject(request)
      const { timestamp } = body
      return forward(
        typeof timestamp === 'number' ? withJson(request, { ...body, timestamp: Math.floor(timestamp) }) : request,
      )
    },
  }),

  ...(
    [
      ['nine-seconds-ago', 'a timestamp of 9 seconds ago is taken', -9, 5],
      ['nineteen-seconds-ago', 'a timestamp of 19 seconds ago is taken', -19, 5],
      ['twenty-eight-seconds-ahead', 'a timestamp of 28 seconds ahead is taken', -5, 28],
      ['ten-either-way', 'a timestamp of 10 seconds ago or ahead is taken', -10, 10],
      ['future-alone', 'a timestamp of the past is refused', 0, 5],
    ] as const
  ).map(([name, fault, least, most]) =>
    defineMutant({
      clause: 'relay.quota.window',
      name,
      fault,
      async quota(request, forward, tools) {
        const timestamp = requestObject(request)['timestamp']
        if (!isQuotaOfFull(request, tools) || !Number.isInteger(timestamp)) {
          return forward(request)
        }
        const ahead = Number(timestamp) - nowSeconds()
        return ahead >= least && ahead <= most
          ? forward(validQuota(request, tools))
          : respond(401, { message: 'Stale timestamp' })
      },
    }),
  ),

  defineMutant({
    clause: 'relay.quota.timestamp-integer',
    name: 'hex',
    fault: 'a timestamp in hex is taken',
    quota(request, forward) {
      const body = requestObject(request)
      const { timestamp } = body
      const isHex = typeof timestamp === 'string' && /^0x[0-9a-f]+$/i.test(timestamp)
      return forward(isHex ? withJson(request, { ...body, timestamp: Number(timestamp) }) : request)
    },
  }),

  ...(
    [
      ['any-hour', 'a timestamp that is whole hours off is taken', 3600],
      ['any-day', 'a timestamp that is whole days off is taken', 86_400],
    ] as const
  ).map(([name, fault, period]) =>
    defineMutant({
      clause: 'relay.quota.window',
      name,
      fault,
      quota(request, forward, tools) {
        const timestamp = requestObject(request)['timestamp']
        if (!isQuotaOfFull(request, tools) || !Number.isInteger(timestamp)) return forward(request)
        const off = Math.abs(Number(timestamp) - nowSeconds()) % period
        return forward(off <= 5 || off >= period - 5 ? validQuota(request, tools) : request)
      },
    }),
  ),

  defineMutant({
    clause: 'relay.quota.window',
    name: 'zero',
    fault: 'a timestamp of zero is not compared with the time',
    quota: (request, forward, tools) =>
      forward(
        requestObject(request)['timestamp'] === 0 && isQuotaOfFull(request, tools)
          ? validQuota(request, tools)
          : request,
      ),
  }),

  ...(
    [
      ['address', 'null', 'the address null is that of the only profile', (given) => given === null],
      ['address', 'empty', 'an empty address is that of the only profile', (given) => given === ''],
      ['address', 'array', 'an array that holds the address is taken', (given) => Array.isArray(given)],
      ['signature', 'null', 'with the signature null a request is trusted', (given) => given === null],
      ['signature', 'empty', 'with an empty signature a request is trusted', (given) => given === ''],
      ['signature', 'array', 'an array that holds the signature is taken', (given) => Array.isArray(given)],
    ] as const satisfies readonly (readonly [string, string, string, (given: unknown) => boolean])[]
  ).map(([field, name, fault, isTaken]) =>
    defineMutant({
      clause: `relay.quota.requires-${field}`,
      name,
      fault,
      quota: (request, forward, tools) =>
        forward(isTaken(requestObject(request)[field]) ? validQuota(request, tools) : request),
    }),
  ),

  ...(
    [
      ['key-manager', 'the address of the key manager', ({ fixture }) => fixture.profile.keyManager],
      ['zero', 'the address zero', () => ZeroAddress],
    ] as const satisfies readonly (readonly [string, string, (tools: AlteredTools) => string])[]
  ).map(([name, what, addressOf]) =>
    defineMutant({
      clause: 'relay.quota.sign-permission',
      name,
      fault: `${what} is taken for that of the profile`,
      quota(request, forward, tools) {
        const isTaken = requestObject(request)['address'] === addressOf(tools)
        const isSigned = isQuotaSignedBy(tools.fixture.controllers.full, request)
        return forward(isTaken && isSigned ? validQuota(request, tools) : request)
      },
    }),
  ),

  defineMutant({
    clause: 'relay.quota.sign-permission',
    name: 'seen',
    fault: 'a request that was refused is served when it comes again',
    quota: trustsWhatItHasSeen((request, tools) => {
      const isForProfile = requestObject(request)['address'] === tools.fixture.profile.address
      return isForProfile ? validQuota(request, tools) : undefined
    }),
  }),

  defineMutant({
    clause: 'relay.quota.bound-to-message',
    name: 'no-bytes',
    fault: 'a signature of no bytes is trusted',
    quota: (request, forward, tools) =>
      forward(requestObject(request)['signature'] === '0x' ? validQuota(request, tools) : request),
  }),

  defineMutant({
    clause: 'relay.quota.post',
    name: 'lower-case',
    fault: 'an address in lower case is not found',
    quota: knowsNoLowerCase,
  }),
]
