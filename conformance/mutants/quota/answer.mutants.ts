import type { ClauseId } from '../../../specs/index.ts'
import { defineMutant, respond } from '../../altered/define.ts'
import { alterAnswer } from '../../altered/lib/relay.ts'
import { holds, later, nowAndThen } from '../../altered/lib/answers.ts'

type QuotaAnswer = Readonly<Record<string, unknown>>

export default [
  defineMutant({
    clause: 'relay.quota.post',
    fault: 'POST /quota is not there',
    quota: async () => respond(404, { message: 'Not Found' }),
  }),

  defineMutant({
    clause: 'relay.quota.quota-number',
    fault: 'quota is a string',
    quota: alterAnswer('quota', (answer) => ({ ...answer, quota: String(answer['quota']) })),
  }),

  defineMutant({
    clause: 'relay.quota.unit',
    fault: 'unit is none of the three',
    quota: alterAnswer('quota', (answer) => ({ ...answer, unit: 'wei' })),
  }),

  defineMutant({
    clause: 'relay.quota.unit',
    name: 'absent',
    fault: 'unit is left out',
    quota: alterAnswer('quota', (answer) => ({ ...answer, unit: undefined })),
  }),

  defineMutant({
    clause: 'relay.quota.unit',
    name: 'case',
    fault: 'unit is written in capitals',
    quota: alterAnswer('quota', (answer) => ({ ...answer, unit: String(answer['unit']).toUpperCase() })),
  }),

  defineMutant({
    clause: 'relay.quota.total-quota',
    fault: 'totalQuota is a string',
    quota: alterAnswer('quota', (answer) => ({ ...answer, totalQuota: String(answer['totalQuota']) })),
  }),

  defineMutant({
    clause: 'relay.quota.total-quota',
    name: 'null',
    fault: 'totalQuota is null',
    quota: alterAnswer('quota', (answer) => ({ ...answer, totalQuota: null })),
  }),

  defineMutant({
    clause: 'relay.quota.reset-date',
    fault: 'resetDate is a date in ISO 8601',
    quota: alterAnswer('quota', (answer) => ({
      ...answer,
      resetDate: new Date(Number(answer['resetDate']) * 1000).toISOString(),
    })),
  }),

  defineMutant({
    clause: 'relay.quota.reset-date',
    name: 'fraction',
    fault: 'resetDate is a fraction',
    quota: alterAnswer('quota', (answer) => ({ ...answer, resetDate: Number(answer['resetDate']) + 0.5 })),
  }),

  defineMutant({
    clause: 'relay.quota.reset-date-future',
    fault: 'resetDate counts milliseconds',
    quota: alterAnswer('quota', (answer) => ({ ...answer, resetDate: Number(answer['resetDate']) * 1000 })),
  }),

  defineMutant({
    clause: 'relay.quota.reset-date-future',
    name: 'past',
    fault: 'resetDate is the last reset',
    quota: alterAnswer('quota', (answer) => ({ ...answer, resetDate: Number(answer['resetDate']) - 40 * 86_400 })),
  }),

  defineMutant({
    clause: 'relay.quota.post',
    name: 'refuses-now-and-then',
    fault: 'each fourth valid request is refused with 401',
    whole: true,
    quota: nowAndThen(4, holds('quota'), () => respond(401, { message: 'Unauthorized' })),
  }),

  defineMutant({
    clause: 'relay.quota.post',
    name: 'errs-now-and-then',
    fault: 'each fourth valid request is answered with 500',
    whole: true,
    quota: nowAndThen(4, holds('quota'), () => respond(500, { message: 'Internal Server Error' })),
  }),

  defineMutant({
    clause: 'relay.quota.post',
    name: 'forgets-the-profile',
    fault: 'after three answers the profile is not registered any more',
    quota: later(3, holds('quota'), () => respond(404, { message: 'profile not registered' })),
  }),

  ...(
    [
      ['relay.quota.unit', 'unit is none of the three', (answer) => ({ ...answer, unit: 'wei' })],
      ['relay.quota.quota-number', 'quota is a string', (answer) => ({ ...answer, quota: String(answer['quota']) })],
      [
        'relay.quota.total-quota',
        'totalQuota is a string',
        (answer) => ({ ...answer, totalQuota: String(answer['totalQuota']) }),
      ],
      [
        'relay.quota.reset-date',
        'resetDate is a date in ISO 8601',
        (answer) => ({ ...answer, resetDate: new Date().toISOString() }),
      ],
    ] as const satisfies readonly (readonly [ClauseId, string, (answer: QuotaAnswer) => object])[]
  ).map(([clause, fault, alter]) =>
    defineMutant({
      clause,
      name: 'later',
      fault: `right for the first five answers, later ${fault}`,
      whole: true,
      quota: later(5, holds('quota'), ({ json }) => respond(200, alter(json as QuotaAnswer))),
    }),
  ),

  ...(
    [
      ['relay.quota.quota-number', 'null', 'quota is null', (answer) => ({ ...answer, quota: null })],
      [
        'relay.quota.quota-number',
        'object',
        'quota is an object',
        (answer) => ({ ...answer, quota: { value: answer['quota'] } }),
      ],
      ['relay.quota.unit', 'number', 'unit is a number', (answer) => ({ ...answer, unit: 0 })],
      ['relay.quota.unit', 'list', 'unit is a list', (answer) => ({ ...answer, unit: [answer['unit']] })],
      ['relay.quota.unit', 'plural', 'unit is in the plural', (answer) => ({ ...answer, unit: 'transactionCounts' })],
      [
        'relay.quota.total-quota',
        'object',
        'totalQuota is an object',
        (answer) => ({ ...answer, totalQuota: { value: answer['totalQuota'] } }),
      ],
      ['relay.quota.reset-date', 'null', 'resetDate is null', (answer) => ({ ...answer, resetDate: null })],
      [
        'relay.quota.reset-date',
        'digits',
        'resetDate is a string of digits',
        (answer) => ({ ...answer, resetDate: String(answer['resetDate']) }),
      ],
    ] as const satisfies readonly (readonly [ClauseId, string, string, (answer: QuotaAnswer) => object])[]
  ).map(([clause, name, fault, alter]) =>
    defineMutant({
      clause,
      name,
      fault,
      quota: alterAnswer('quota', (answer) => ({ ...alter(answer) })),
    }),
  ),
]
