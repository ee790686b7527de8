import { defineLawful, respond, respondText } from '../../altered/define.ts'

const options = ['--fuzz', '30', '--seed', '3']

export default [
  defineLawful({
    id: 'refuses-whatever-it-has-seen-in-any-spelling',
    clauses: ['relay.fuzz.one-effect', 'relay.fuzz.valid-signature'],
    allowedBy: 'relay 7: how a repeated request is answered is not shown',
    environment: { options },
    async execute(request, forward, { memory }) {
      const key = JSON.stringify(request.json, (_name, value: unknown) =>
        typeof value === 'bigint' ? `${value}` : value,
      )
      if (memory.has(key)) return respond(409, { message: 'seen before' })
      memory.set(key, true)
      const response = await forward(request)
      if (response.status !== 200) memory.delete(key)
      return response
    },
  }),
  defineLawful({
    id: 'refuses-random-requests-in-plain-text',
    clauses: ['relay.fuzz.no-server-error', 'relay.fuzz.quota-signature'],
    allowedBy: 'relay 7: status and body of an error are not shown',
    environment: { options },
    async every(request, forward) {
      const response = await forward(request)
      const isRelay = request.path.startsWith('/execute') || request.path.startsWith('/quota')
      return isRelay && response.status >= 400 && response.status !== 429 ? respondText(400, 'no') : response
    },
  }),
]
