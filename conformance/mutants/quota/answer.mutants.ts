import { defineMutant, respond } from '../../altered/define.ts'
import { alterAnswer } from '../../altered/lib/relay.ts'

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
]
