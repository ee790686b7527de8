import type { Answer } from '../answer.ts'
import type { CheckContext } from '../context.ts'
import { toNumber } from '../decimal.ts'
import { Fault, Untestable } from '../outcome.ts'
import { askQuota } from './quota.ts'
import { requireVerifiedFixture } from './quota-session.ts'

/** Less gas than a relay may set aside for one call. */
const leastGas = 1_000_000

/**
 * Makes sure that the refusal of a valid call is the target's own: not that of a profile which its chain does not have,
 * nor that of a spent quota, of which the document says nothing.
 *
 * @param refusal the answer to a valid call
 * @throws Untestable
 */
export async function requireBlame(t: CheckContext, refusal: Answer): Promise<void> {
  requireVerifiedFixture(t, refusal)
  // The target may not serve /quota at all: then there is no such excuse.
  const told = await askQuota(t).catch((error: unknown) => {
    if (error instanceof Fault || error instanceof Untestable) return undefined
    throw error
  })
  if (!told?.quota) return
  const quota = toNumber(told.quota)
  if (quota <= 0 || (told.unit === 'gas' && quota < leastGas) || (told.unit === 'transactionCount' && quota < 1)) {
    const spent = `the profile's quota is used up: ${quota} ${String(told.unit)} are left`
    t.note(spent)
    throw new Untestable(`${spent}, refused with ${refusal.status}`)
  }
}
