import { clause } from '../../lib/clause.ts'
import { expectNoQuota, quotaTwin } from '../../lib/relay/quota.ts'

const fields = [
  ['relay.quota.requires-address', 'address'],
  ['relay.quota.requires-timestamp', 'timestamp'],
  ['relay.quota.requires-signature', 'signature'],
] as const

export default fields.map(([id, field]) =>
  clause(id, (check) => {
    check(`without ${field} there is no quota`, async (t) => {
      const { body } = await quotaTwin(t)
      expectNoQuota(t, await t.relay.quota({ ...body, [field]: undefined }), `a body without ${field}`)
    })
  }),
)
