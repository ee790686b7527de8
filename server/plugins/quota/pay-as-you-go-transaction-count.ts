import { defineQuota } from '../../core/define.ts'
import { chargingIn, countOption, optionsSchema, prepaid } from '../../services/quotas/models.ts'

interface Options {
  readonly initialTransactions: number
}

const model = prepaid('transactionCount')

/** Relay calls that were topped up, until they are used up. */
export default defineQuota<never, Options>({
  id: 'pay-as-you-go-transaction-count',
  unit: 'transactionCount',
  clauses: ['relay.quota.post', 'relay.quota.quota-number', 'relay.quota.unit', 'relay.quota.pay-as-you-go'],
  needs: [],
  options: optionsSchema({ initialTransactions: countOption('Transactions that a new account begins with.', 0) }),
  open: (_nowSeconds, _services, { initialTransactions }) => model.open(BigInt(initialTransactions)),
  remaining: model.remaining,
  ...chargingIn.transactionCount,
})
