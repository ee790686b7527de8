import { defineLawful, respond } from '../../altered/define.ts'
import { transactionOf } from '../../altered/lib/relay.ts'

export default [
  defineLawful({
    id: 'takes-no-validity',
    clauses: ['relay.execute.validity-timestamps', 'relay.execute.post'],
    allowedBy: 'relay 2 has no validityTimestamps',
    mayFail: ['relay.execute.validity-timestamps'],
    execute: async (request, forward) =>
      'validityTimestamps' in transactionOf(request)
        ? respond(400, { message: 'validityTimestamps is not allowed' })
        : forward(request),
  }),
]
