import { defineMutant, respond } from '../../altered/define.ts'
import { alterAnswer } from '../../altered/lib/relay.ts'

export default [
  defineMutant({
    clause: 'relay.quota.total-is-available-plus-used',
    fault: 'quota stays as it is, whatever is used',
    async quota(request, forward, { memory }) {
      const response = await forward(request)
      const answer = (response.json ?? {}) as Record<string, unknown>
      if (!('quota' in answer)) return response
      const quota = memory.get('quota') ?? answer['quota']
      memory.set('quota', quota)
      return respond(200, { ...answer, quota })
    },
  }),

  defineMutant({
    clause: 'relay.quota.total-is-available-plus-used',
    name: 'below',
    fault: 'totalQuota is below quota',
    quota: alterAnswer('quota', (answer) => ({ ...answer, totalQuota: Number(answer['quota']) - 1 })),
  }),

  defineMutant({
    clause: 'relay.quota.total-is-available-plus-used',
    name: 'falling',
    fault: 'totalQuota falls with quota',
    quota: alterAnswer('quota', (answer) => ({ ...answer, totalQuota: answer['quota'] })),
  }),

  defineMutant({
    clause: 'relay.quota.total-is-available-plus-used',
    name: 'used',
    fault: 'quota is what was used',
    quota: alterAnswer('quota', (answer) => ({
      ...answer,
      quota: Number(answer['totalQuota']) - Number(answer['quota']),
    })),
  }),
]
