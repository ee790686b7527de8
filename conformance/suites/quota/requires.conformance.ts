import { clause } from '../../lib/clause.ts'
import { expectRefused } from '../../lib/relay/quota.ts'

const fields = [
  ['relay.quota.requires-address', 'address'],
  ['relay.quota.requires-timestamp', 'timestamp'],
  ['relay.quota.requires-signature', 'signature'],
] as const

export default fields.map(([id, field]) =>
  clause(id, (check) => {
    check(`without ${field} there is no quota`, (t) =>
      expectRefused(t, `a body without ${field}`, (valid) => ({ ...valid, [field]: undefined })),
    )
  }),
)
