import { defineQuota } from '../../core/define.ts'
import { chargingIn, weiOption, optionsSchema, prepaid } from '../../services/quotas/models.ts'

interface Options {
  readonly initialWei: string
}

const model = prepaid('lyx')

/** Native coin that was topped up, until the gas of relays has used it up. */
export default defineQuota<never, Options>({
  id: 'pay-as-you-go-lyx',
  unit: 'lyx',
  clauses: ['relay.quota.post', 'relay.quota.quota-number', 'relay.quota.unit', 'relay.quota.pay-as-you-go'],
  needs: [],
  options: optionsSchema({ initialWei: weiOption('Wei of the native coin that a new account begins with.', '0') }),
  open: (_nowSeconds, _services, { initialWei }) => model.open(BigInt(initialWei)),
  remaining: model.remaining,
  ...chargingIn.lyx,
})
