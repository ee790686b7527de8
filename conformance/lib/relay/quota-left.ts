import { objectOf, type Answer } from '../answer.ts'
import type { CheckContext } from '../context.ts'
import { Untestable } from '../outcome.ts'
import { askQuota, isServed } from './quota.ts'

/** Less gas than a relay may set aside for one call. */
const leastGas = 1_000_000

/**
 * What happens when the quota is exhausted is not shown, so a refusal then is no fault.
 * @param refusal the answer to a valid call
 * @throws Untestable when the target says that nothing is left
 */
export async function requireQuotaLeft(t: CheckContext, refusal: Answer): Promise<void> {
  // The target may not serve /quota at all: then there is no such excuse.
  const answer = await askQuota(t)
  if (!isServed(answer)) return
  const { quota, unit } = objectOf(answer) ?? {}
  if (typeof quota !== 'number') return
  if (quota <= 0 || (unit === 'gas' && quota < leastGas) || (unit === 'transactionCount' && quota < 1)) {
    throw new Untestable(`the profile's quota is used up (${quota} ${String(unit)}), refused with ${refusal.status}`)
  }
}
