import type { Answer } from '../answer.ts'
import type { CheckContext } from '../clause.ts'
import type { SendOptions } from '../endpoint.ts'
import { toNumber } from '../lossless-json.ts'
import { Fault, Untestable } from '../outcome.ts'
import { hashIn, isHash, normalHash, type ToldQuota } from './answers.ts'
import { askQuota } from './quota.ts'

/** A refusal that may be about a limit is taken for one so often, before the quota is looked at. */
const trustedWaits = 2
/** A relay may set aside this much gas for one call. */
const leastGas = 1_000_000

/** The least quota that is enough for one call, in this unit. */
async function leastOf(t: CheckContext, unit: unknown): Promise<number> {
  if (unit === 'gas') return leastGas
  if (unit === 'transactionCount') return 1
  const outcome = t.hasChain ? await t.chain.attempt('eth_gasPrice') : {}
  const priceWei = 'result' in outcome ? Number(outcome.result) : 0
  return (leastGas * priceWei) / 1e18
}

/** What the target tells of the profile's quota; undefined: it serves no /quota. */
export async function quotaIfServed(t: CheckContext): Promise<ToldQuota | undefined> {
  try {
    return await askQuota(t)
  } catch (error) {
    if (error instanceof Fault || error instanceof Untestable) return undefined
    throw error
  }
}

/** In words, that the quota does not suffice for a call; undefined: it does, or the target tells none. */
export async function spentQuota(t: CheckContext, told: ToldQuota | undefined): Promise<string | undefined> {
  if (!told?.quota) return undefined
  const quota = toNumber(told.quota)
  if (quota > 0 && quota >= (await leastOf(t, told.unit))) return undefined
  return `the profile's quota is used up: ${quota} ${String(told.unit)} are left`
}

/** What the run knows of the quota: whether it was used up when a call was refused last. */
export const quotaState = (t: CheckContext): Promise<{ isSpent: boolean }> =>
  t.once('relay.quota-state', async () => ({ isSpent: false }))

/**
 * Sends a body that the target could turn into a transaction, and records the transaction.
 *
 * @throws Untestable when the budget of the run is spent
 */
export async function execute(t: CheckContext, body: unknown, options: SendOptions = {}): Promise<Answer> {
  t.spending.ask()
  const state = await quotaState(t)
  const isInVain = async (waits: number) => {
    if (!state.isSpent && waits < trustedWaits) return false
    state.isSpent = (await spentQuota(t, await quotaIfServed(t))) !== undefined
    return state.isSpent
  }
  const answer = await t.relay.execute(body, { isInVain, ...options })
  const hash = hashIn(answer)
  if (isHash(hash)) t.spending.caused(normalHash(hash))
  if (answer.failure) t.spending.unknown()
  return answer
}
