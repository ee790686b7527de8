import { defineMutant, respond } from './define.ts'

export default defineMutant({
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
})
