import { defineLawful, type Handler, type Lawful, respond } from '../../altered/define.ts'
import { clockOff, isQuotaOfFull, validQuota } from '../../altered/lib/quota.ts'
import { requestObject } from '../../altered/lib/relay.ts'

const clauses: Lawful['clauses'] = [
  'relay.quota.window',
  'relay.quota.timestamp-seconds',
  'relay.quota.timestamp-integer',
]
const allowedBy = 'relay 5.5: "within 5 seconds of the current time": whose clock tells the current time is not shown'

const hour = 3600

/** A window of its own: which distances of the timestamp from this machine's time, in seconds, it accepts. */
function window(accepts: (aheadSeconds: number) => boolean): Handler {
  return async (request, forward, tools) => {
    if (!isQuotaOfFull(request, tools)) return forward(request)
    const timestamp = requestObject(request)['timestamp']
    if (!Number.isInteger(timestamp)) return forward(request)
    const ahead = Number(timestamp) - Date.now() / 1000
    return accepts(ahead) ? forward(validQuota(request, tools)) : respond(401, { message: 'Stale timestamp' })
  }
}

export default [
  ...[2, -2, 30, -30, 300, hour, -hour].flatMap((seconds) =>
    (['with date', 'without date'] as const).map((date) =>
      defineLawful({
        id: `has-a-clock-${Math.abs(seconds)}s-${seconds > 0 ? 'ahead' : 'behind'}-${date.replace(' ', '-')}`,
        clauses,
        allowedBy,
        ...clockOff(seconds, date),
      }),
    ),
  ),

  defineLawful({
    id: 'measures-the-window-in-milliseconds',
    clauses,
    allowedBy: 'relay 5.5: of which precision the current time is, is not shown',
    quota: window((ahead) => Math.abs(ahead) <= 5),
  }),
  defineLawful({
    id: 'excludes-the-edges-of-the-window',
    clauses,
    allowedBy: 'relay 5.5: whether exactly 5 seconds are within 5 seconds is not shown',
    quota: window((ahead) => Math.abs(Math.ceil(ahead)) < 5),
  }),
  defineLawful({
    id: 'rounds-the-current-time',
    clauses,
    allowedBy: 'relay 5.5: of which precision the current time is, is not shown',
    quota: window((ahead) => Math.abs(Math.round(ahead)) <= 5),
  }),
  defineLawful({
    id: 'goes-by-the-time-of-a-block',
    clauses,
    allowedBy,
    quota: window((ahead) => Math.abs(ahead + 0.9) <= 5.1),
  }),
  defineLawful({
    id: 'verifies-a-second-late',
    clauses,
    allowedBy: 'relay 5.5: at which moment of a request the current time is read is not shown',
    async quota(request, forward) {
      await new Promise((resolve) => setTimeout(resolve, 1000))
      return forward(request)
    },
  }),
  defineLawful({
    id: 'answers-quota-late',
    clauses: ['relay.quota.window', 'relay.quota.post'],
    allowedBy: 'relay 4: how long an answer takes is not shown',
    async quota(request, forward) {
      const response = await forward(request)
      await new Promise((resolve) => setTimeout(resolve, 1500))
      return response
    },
  }),
  defineLawful({
    id: 'keeps-the-window-of-the-public-text',
    clauses,
    allowedBy: 'the public text of LSP15 gives 300 seconds: lawful in that edition',
    environment: { options: ['--edition', 'lip'] },
    quota: window((ahead) => Math.abs(Math.ceil(ahead)) <= 300),
  }),
]
