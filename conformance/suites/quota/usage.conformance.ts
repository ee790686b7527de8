import { clause } from '../../lib/clause.ts'
import type { CheckContext } from '../../lib/context.ts'
import { Fault, Untestable } from '../../lib/outcome.ts'
import { freshCall } from '../../lib/relay/first-execution.ts'
import { expectQuota } from '../../lib/relay/quota.ts'
import { poll, type Receipt } from '../../lib/relay/receipt.ts'
import { expectTwinExecuted } from '../../lib/relay/twin.ts'

/**
 * How long a target may take to book what a transaction used, attempt by attempt. Another run, or the booking of an
 * earlier call, may raise the quota meanwhile: then trying again helps sooner than waiting.
 */
const settleMs = [2000, 5000, 30_000]

interface Told {
  readonly quota: number
  readonly unit: unknown
  readonly totalQuota: unknown
  readonly resetDate: unknown
}

async function ask(t: CheckContext): Promise<Told> {
  const { quota, unit, totalQuota, resetDate } = await expectQuota(t)
  if (typeof quota !== 'number') throw new Untestable('quota is no number')
  return { quota, unit, totalQuota, resetDate }
}

/** The least by which quota falls. How a target books is its own: half of the gas is far from what no booking gives. */
function leastUse(unit: unknown, { gasUsed }: Receipt): number {
  if (unit === 'gas') return Number(gasUsed) / 2
  return unit === 'transactionCount' ? 1 : Number.MIN_VALUE
}

export default [
  clause('relay.quota.total-is-available-plus-used', (check) => {
    check('totalQuota is not below quota', { needs: ['fixture'] }, async (t) => {
      const { quota, totalQuota } = await ask(t)
      if (totalQuota === undefined) return t.observe('totalQuota is left out: a pay-as-you-go model')
      if (typeof totalQuota === 'number' && totalQuota >= quota) return
      throw new Fault('totalQuota is below quota', {
        expected: `at least ${quota}`,
        actual: JSON.stringify(totalQuota),
      })
    })

    check('an execution lowers quota and leaves totalQuota', { needs: ['chain', 'fixture', 'spend'] }, async (t) => {
      let seen = ''
      for (const waitMs of settleMs) {
        const before = await ask(t)
        const receipt = await expectTwinExecuted(t, await freshCall(t))
        const least = leastUse(before.unit, receipt)
        let after = before
        const fell = await poll(
          async () => {
            after = await ask(t)
            return before.quota - after.quota >= least || undefined
          },
          Math.min(waitMs, t.patience.receiptMs()),
        )
        if (after.resetDate !== before.resetDate) continue
        if (after.totalQuota !== before.totalQuota) {
          throw new Fault('an execution changed totalQuota', {
            expected: JSON.stringify(before.totalQuota),
            actual: JSON.stringify(after.totalQuota),
          })
        }
        seen = `from ${before.quota} to ${after.quota} ${String(before.unit)}, for ${Number(receipt.gasUsed)} gas used`
        if (fell) return t.observe(`quota went ${seen}`)
        if (before.totalQuota === undefined) return t.observe(`pay-as-you-go: quota went ${seen}`)
      }
      if (seen === '') throw new Untestable('resetDate changed each time')
      throw new Fault('an execution does not lower quota by what it used', {
        expected: 'a lower quota',
        actual: `quota went ${seen}`,
      })
    })
  }),
]
