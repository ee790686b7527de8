import { setTimeout as delay } from 'node:timers/promises'
import { clause } from '../../lib/clause.ts'
import type { CheckContext } from '../../lib/context.ts'
import { compareDecimals, minus, showDecimal, toNumber, type Decimal } from '../../lib/lossless-json.ts'
import { Fault, Untestable } from '../../lib/outcome.ts'
import { executedCalls, inTurn } from '../../lib/relay/attempt.ts'
import { expectTwin } from '../../lib/relay/first-execution.ts'
import { askQuota, firstTold } from '../../lib/relay/quota.ts'
import { isMore, type ToldQuota } from '../../lib/relay/quota-answer.ts'
import type { Receipt } from '../../lib/relay/receipt.ts'

/**
 * How long a target may take to book what a transaction used, attempt by attempt. Another run, or the booking of an
 * earlier call, may raise the quota meanwhile: then trying again helps sooner than waiting.
 */
const settleMs = [2000, 5000, 30_000]
/** Pauses between questions, so that a target that books at once is asked twice and a slow one not often. */
const pausesMs = [0, 100, 300, 700, 1500, 3000]
/** How long a reservation is watched for being given back. */
const releaseMs = 5000
const releasePauseMs = 500
/** How long it is watched, at the end of the run, whether the last use that is seen is given back as well. */
const stillMs = 10_000
/** So often the quota is asked until two answers agree. */
const agreeAttempts = 5
/** A resetDate that moves on by more than the time that passed was reached: the allowance is a new one. */
const resetJumpSeconds = 60
/** What nobody charges: a gas fee a thousand times over is an amount in another unit. */
const mostTimes = { gas: 1000, transactionCount: 10_000, lyx: 1e9 } as const

type Amounts = ToldQuota & { readonly quota: Decimal }

async function ask(t: CheckContext): Promise<Amounts> {
  const told = await askQuota(t)
  const { quota } = told
  if (!quota) throw new Untestable('quota is no number', { because: 'relay.quota.quota-number' })
  return { ...told, quota }
}

/** The higher of the first quota of the run and the one before a call: what was set aside before is given back. */
async function mostOf(t: CheckContext, before: Amounts): Promise<Amounts> {
  const first = await firstTold(t)
  const isSame = first.totalQuota && before.totalQuota && compareDecimals(first.totalQuota, before.totalQuota) === 0
  const { quota } = first
  return quota && isSame && compareDecimals(quota, before.quota) > 0 ? { ...before, quota } : before
}

/** The most that the quota was before the first call that was seen to lower it. */
function useOf(t: CheckContext): Promise<{ before?: Amounts }> {
  return t.once('relay.quota.use', async () => ({}))
}

/** Asks until nothing moves any more: what earlier calls used may be booked late, or a reservation given back. */
async function askSettled(t: CheckContext): Promise<Amounts> {
  let before = await ask(t)
  for (let attempt = 1; attempt < agreeAttempts; attempt++) {
    await delay(50 * attempt)
    const now = await ask(t)
    if (compareDecimals(now.quota, before.quota) === 0) return now
    before = now
  }
  return before
}

/** Whether so much is what one call of that cost uses, in the unit that the target names. */
function judgeUse(unit: unknown, used: number, { gasUsed, effectiveGasPrice }: Receipt): 'nothing' | 'used' | 'absurd' {
  const gas = Number(gasUsed)
  // How a target books is its own: half of the gas is far from what no booking gives.
  if (unit === 'gas') return used < gas / 2 ? 'nothing' : used > gas * mostTimes.gas ? 'absurd' : 'used'
  if (unit === 'transactionCount') return used < 1 ? 'nothing' : used > mostTimes.transactionCount ? 'absurd' : 'used'
  const feeLyx = (gas * Number(effectiveGasPrice ?? 0)) / 1e18
  return used <= 0 ? 'nothing' : feeLyx > 0 && used > feeLyx * mostTimes.lyx ? 'absurd' : 'used'
}

function secondsOf(resetDate: unknown): number | undefined {
  if (typeof resetDate !== 'number') return undefined
  return resetDate > 1e11 ? resetDate / 1000 : resetDate
}

/** Whether the allowance began anew between the two answers. */
function hasReset(before: ToldQuota, after: ToldQuota, elapsedSeconds: number): boolean {
  const [was, is] = [secondsOf(before.resetDate), secondsOf(after.resetDate)]
  return was !== undefined && is !== undefined && is - was > elapsedSeconds + resetJumpSeconds
}

/** @throws Fault when totalQuota is another one; doubles may be off by their last digit */
function expectSameTotal(before: ToldQuota, after: ToldQuota): void {
  const [was, is] = [before.totalQuota, after.totalQuota]
  if (was && is ? !isMore(was, is) && !isMore(is, was) : was === is) return
  throw new Fault('an execution changed totalQuota', {
    expected: was ? showDecimal(was) : 'none',
    actual: is ? showDecimal(is) : 'none',
    answer: after.answer,
  })
}

/** Asks until the quota is lower, or for so long. */
async function askUsed(t: CheckContext, before: Amounts, receipt: Receipt, waitMs: number): Promise<Amounts> {
  const start = performance.now()
  for (let look = 0; ; look++) {
    const pauseMs = pausesMs[Math.min(look, pausesMs.length - 1)] ?? 0
    await delay(Math.min(pauseMs, Math.max(0, waitMs - (performance.now() - start))))
    const after = await ask(t)
    const isUsed = judgeUse(before.unit, toNumber(minus(before.quota, after.quota)), receipt) !== 'nothing'
    if (isUsed || performance.now() - start >= waitMs) return after
  }
}

/** Whether it is more than one call uses, so that it may be set aside and given back. */
function mayBeReserved(unit: unknown, used: number, { gasUsed, effectiveGasPrice }: Receipt): boolean {
  const gas = Number(gasUsed)
  if (unit === 'gas') return used > 2 * gas
  return used > (unit === 'transactionCount' ? 1 : (2 * gas * Number(effectiveGasPrice ?? 0)) / 1e18)
}

/** Asks until a reservation is given back, or for so long, and then what was used in its place. */
async function askReleased(t: CheckContext, before: Amounts, reserved: Amounts, receipt: Receipt, waitMs: number) {
  const start = performance.now()
  for (;;) {
    await delay(releasePauseMs)
    const now = await ask(t)
    const isUsed = judgeUse(before.unit, toNumber(minus(before.quota, now.quota)), receipt) !== 'nothing'
    if (!isUsed) return askUsed(t, before, receipt, waitMs)
    if (compareDecimals(now.quota, reserved.quota) !== 0 || performance.now() - start >= releaseMs) return now
  }
}

/** One execution between two answers. @returns what was seen; undefined: quota did not fall */
async function executeOnce(
  t: CheckContext,
  waitMs: number,
): Promise<{ readonly isUsed: boolean; readonly fault: Fault }> {
  const before = await askSettled(t)
  const start = performance.now()
  const { settled } = await expectTwin(t)
  const receipt = settled?.receipt
  if (!receipt)
    throw new Untestable('what the call cost is not known', { because: 'relay.execute.hash-of-transaction' })
  const first = await askUsed(t, before, receipt, waitMs)
  const isReserved = mayBeReserved(before.unit, toNumber(minus(before.quota, first.quota)), receipt)
  const after = isReserved ? await askReleased(t, before, first, receipt, waitMs) : first
  const used = minus(before.quota, after.quota)
  const way = `quota went from ${showDecimal(before.quota)} to ${showDecimal(after.quota)} ${String(before.unit)}`
  const seen = `${way}, for ${Number(receipt.gasUsed)} gas used`
  const fault = new Fault('an execution does not lower quota by what it used', {
    expected: 'a lower quota, by what the execution used',
    actual: seen,
    answer: after.answer,
  })
  if (hasReset(before, after, (performance.now() - start) / 1000)) return { isUsed: false, fault }
  expectSameTotal(before, after)
  const judged = judgeUse(before.unit, toNumber(used), receipt)
  if (judged === 'absurd') throw fault
  if (judged === 'used') t.observe(seen)
  else if (before.totalQuota === undefined) t.observe(`pay-as-you-go: ${seen}`)
  if (judged === 'used') (await useOf(t)).before ??= await mostOf(t, before)
  return { isUsed: judged === 'used' || before.totalQuota === undefined, fault }
}

/** So much of the gas of all calls shows that they were booked: then nothing is waited for. */
function isBooked({ unit }: Amounts, used: number, receipts: readonly Receipt[]): boolean {
  const gas = receipts.reduce((sum, { gasUsed }) => sum + Number(gasUsed), 0)
  if (unit === 'gas') return used >= 0.9 * gas && used <= 2 * gas
  return unit === 'transactionCount' ? used >= receipts.length : used > 0
}

/** The quota is not again what it was before calls of the run used of it. @throws Fault */
async function expectStillUsed(t: CheckContext): Promise<void> {
  const { before } = await useOf(t)
  const resetsAt = secondsOf(before?.resetDate)
  // Who tells no total has nothing to add up, and who tells no reset may have had one.
  if (!before?.totalQuota || resetsAt === undefined) return
  const receipts = (await executedCalls(t)).map(({ receipt }) => receipt)
  const start = performance.now()
  for (;;) {
    const now = await ask(t)
    const isSame = now.totalQuota && compareDecimals(now.totalQuota, before.totalQuota) === 0
    if (!isSame || t.clock.now() >= resetsAt - 1) return
    // Higher than before is what was set aside for earlier calls and given back; of a few counts that could be as many.
    const isAsBefore = before.unit !== 'transactionCount' && compareDecimals(now.quota, before.quota) === 0
    if (isAsBefore || compareDecimals(now.quota, before.totalQuota) === 0) {
      throw new Fault('quota is again what it was before the calls of this run', {
        expected: `less than ${showDecimal(before.quota)}, or than totalQuota, until the reset`,
        actual: `${showDecimal(now.quota)} ${String(now.unit)}`,
        answer: now.answer,
      })
    }
    const isEnough = isBooked(before, toNumber(minus(before.quota, now.quota)), receipts)
    if (isEnough || performance.now() - start >= stillMs) return
    await delay(releasePauseMs)
  }
}

export default [
  clause('relay.quota.total-is-available-plus-used', (check) => {
    check('totalQuota is not below quota', { needs: ['fixture'] }, async (t) => {
      const { totalQuota } = await firstTold(t)
      if (!totalQuota) t.observe('totalQuota is left out: a pay-as-you-go model')
    })

    check('an execution lowers quota and leaves totalQuota', { needs: ['chain', 'fixture', 'spend'] }, (t) =>
      // No other run on this machine moves the quota meanwhile.
      inTurn(t, async () => {
        let last: Fault | undefined
        for (const waitMs of settleMs) {
          const { isUsed, fault } = await executeOnce(t, Math.min(waitMs, t.patience.receiptMs()))
          if (isUsed) return
          last = fault
        }
        if (last) throw last
      }),
    )

    check('what was used stays used until the reset', { needs: ['chain', 'fixture', 'spend'], isLast: true }, (t) =>
      inTurn(t, () => expectStillUsed(t)),
    )
  }),
]
