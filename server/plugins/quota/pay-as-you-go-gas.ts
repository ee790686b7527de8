import { defineQuota } from '../../core/define.ts'
import { chargingIn, countOption, optionsSchema, prepaid } from '../../services/quotas/models.ts'

interface Options {
  readonly initialGas: number
}

const model = prepaid('gas')

/** Gas that was topped up, until it is used up. */
export default defineQuota<never, Options>({
  id: 'pay-as-you-go-gas',
  unit: 'gas',
  clauses: ['relay.quota.post', 'relay.quota.quota-number', 'relay.quota.unit', 'relay.quota.pay-as-you-go'],
  needs: [],
  options: optionsSchema({ initialGas: countOption('Gas that a new account begins with.', 0) }),
  open: (_nowSeconds, _services, { initialGas }) => model.open(BigInt(initialGas)),
  remaining: model.remaining,
  ...chargingIn.gas,
})
