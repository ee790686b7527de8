import { defineMutant, respond, withJson } from '../../altered/define.ts'
import { isQuotaOfFull, nowSeconds, validQuota } from '../../altered/lib/quota.ts'
import { requestObject } from '../../altered/lib/relay.ts'

export default [
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
]
