import { type CheckContext, clause } from '../../lib/clause.ts'
import { compareDecimals, minus, showDecimal, toNumber, type Decimal } from '../../lib/lossless-json.ts'
import { Fault, Untestable } from '../../lib/outcome.ts'
import { attemptCall, inTurn, type ValidOptions } from '../../lib/relay/attempt.ts'
import { expectTwin, isDone } from '../../lib/relay/executions.ts'
import { askQuota, firstTold, sendForbidden } from '../../lib/relay/quota.ts'
import { isMore, readTold, tellsQuota, type ToldQuota } from '../../lib/relay/answers.ts'
import { executedCalls, mayBeShared, type Receipt } from '../../lib/relay/receipt.ts'
import { delay, ourTimeMs } from '../../lib/world.ts'

/**
 * How long a target may take to book what a transaction used, for each attempt. Another run, or the late booking of
 * an earlier call, may raise the quota in between, and a new attempt then helps sooner than waiting. The last wait is long
 * enough for a target that books once a minute.
 */
const settleMs = [2000, 5000, 65_000]
/** Pauses between two questions. A target that books at once is asked twice, and a slow target is not asked often. */
const pausesMs = [0, 100, 300, 700, 1500, 3000]
/** How often, and how long apart, to look whether totalQuota moves by itself. */
const totalLooks = 4
const totalPauseMs = 1000
/** How long to wait until the target gives a reservation back. */
const releaseMs = 5000
const releasePauseMs = 500
/** How long to wait, at the end of the run, whether the target gives back the last use as well. */
const stillMs = 10_000
/** A use that still counts after this time is not given back. A quick run is over earlier. */
const keptMs = 6000
/** How often to ask for the quota until two answers agree. */
const agreeAttempts = 5
/** A resetDate that has moved on by this much more than the time that passed belongs to a new allowance. */
const resetJumpSeconds = 60
/** More than this times the cost of a call is an amount in another unit. */
const mostTimes = { gas: 1000, transactionCount: 10_000, lyx: 1e9 } as const

type Amounts = ToldQuota & { readonly quota: Decimal }

async function ask(t: CheckContext): Promise<Amounts> {
  const told = await askQuota(t)
  const { quota } = told
  if (!quota) throw new Untestable('quota is no number', { because: 'relay.quota.quota-number' })
  return { ...told, quota }
}

/**
 * The higher of the first quota of the run and the quota before a call. A quota rises when the target gives a
 * reservation back.
 */
async function mostOf(t: CheckContext, before: Amounts): Promise<Amounts> {
  const first = await firstTold(t)
  const isSame = first.totalQuota && before.totalQuota && compareDecimals(first.totalQuota, before.totalQuota) === 0
  const { quota } = first
  return quota && isSame && compareDecimals(quota, before.quota) > 0 ? { ...before, quota } : before
}

/** The highest quota before the first call that lowered it, and when it was seen to be lower. */
function useOf(t: CheckContext): Promise<{ first?: { readonly before: Amounts; readonly atMs: number } }> {
  return t.once('relay.quota.use', async () => ({}))
}

/** Asks until two answers agree: a target may book earlier calls late, or give back a reservation. */
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

function feeLyxOf({ gasUsed, effectiveGasPrice }: Receipt): number {
  return (Number(gasUsed) * Number(effectiveGasPrice ?? 0)) / 1e18
}

/** The largest power of ten that divides the quota, since a target may round what it tells; 1 for a fraction and for zero. */
function stepOf({ units, scale }: Decimal): number {
  if (scale > 0 || units === 0n) return 1
  const [zeros = ''] = /0*$/.exec(String(units)) ?? []
  return 10 ** zeros.length
}

/**
 * Makes sure that the use of a call can be seen.
 *
 * @throws Untestable on a chain without fees, where nothing is used, and where the target shows too few digits
 */
function requireVisibleUse(before: Amounts, after: Amounts, receipt: Receipt): void {
  if (before.unit === 'gas') {
    const { quota, totalQuota } = after
    const isUntouched = !totalQuota || compareDecimals(quota, totalQuota) === 0
    const isSame = compareDecimals(quota, before.quota) === 0
    const step = stepOf(quota)
    if (isSame && !isUntouched && step > Number(receipt.gasUsed))
      throw new Untestable(`the target shows its quota in steps of ${step} gas`)
  }
  if (before.unit !== 'lyx') return
  const feeLyx = feeLyxOf(receipt)
  if (feeLyx === 0) throw new Untestable('the execution used no lyx: its gas price is zero')
  const decimals = Math.max(before.quota.scale, after.quota.scale)
  if (decimals === 0 || feeLyx >= 10 ** -decimals) return
  throw new Untestable(`the execution used ${feeLyx} lyx, and the target shows ${decimals} decimals`)
}

/** Whether one call of this cost uses so much, in the unit that the target names. */
function judgeUse(
  { fixture }: CheckContext,
  unit: unknown,
  used: number,
  receipt: Receipt,
): 'nothing' | 'used' | 'absurd' {
  const gas = Number(receipt.gasUsed)
  // The target chooses how it books. Half of the gas is far from both no booking and any way of booking. Where calls share
  // the transaction, the part of one of them may be of any size.
  const least = mayBeShared(receipt, fixture.profile.keyManager) ? 1 : gas / 2
  if (unit === 'gas') return used < least ? 'nothing' : used > gas * mostTimes.gas ? 'absurd' : 'used'
  if (unit === 'transactionCount') return used < 1 ? 'nothing' : used > mostTimes.transactionCount ? 'absurd' : 'used'
  const feeLyx = feeLyxOf(receipt)
  return used <= 0 ? 'nothing' : feeLyx > 0 && used > feeLyx * mostTimes.lyx ? 'absurd' : 'used'
}

function secondsOf(resetDate: unknown): number | undefined {
  if (typeof resetDate !== 'number') return undefined
  return resetDate > 1e11 ? resetDate / 1000 : resetDate
}

/** Whether a new allowance began between the two answers. */
function hasReset(before: ToldQuota, after: ToldQuota, elapsedSeconds: number): boolean {
  const [was, is] = [secondsOf(before.resetDate), secondsOf(after.resetDate)]
  return was !== undefined && is !== undefined && is - was > elapsedSeconds + resetJumpSeconds
}

/** What was used between the two answers. A total may grow, for example with time, and what is available then grows alike. */
function useBetween(before: Amounts, after: Amounts): Decimal {
  const used = minus(before.quota, after.quota)
  return before.totalQuota && after.totalQuota ? minus(used, minus(before.totalQuota, after.totalQuota)) : used
}

/** Whether both answers tell the same totalQuota; a double may differ in its last digit. */
function isSameTotal({ totalQuota: was }: ToldQuota, { totalQuota: is }: ToldQuota): boolean {
  return was && is ? !isMore(was, is) && !isMore(is, was) : was === is
}

/**
 * The execution left totalQuota as it was.
 *
 * @throws Fault when totalQuota differs, and does not change without an execution as well
 */
async function expectSameTotal(t: CheckContext, before: Amounts, after: Amounts): Promise<void> {
  if (isSameTotal(before, after)) return
  for (let look = 0; before.totalQuota && after.totalQuota && look < totalLooks; look++) {
    await delay(totalPauseMs)
    if (!isSameTotal(after, await ask(t))) return t.observe('totalQuota changes without an execution')
  }
  const [was, is] = [before.totalQuota, after.totalQuota]
  throw new Fault('an execution changed totalQuota', {
    expected: was ? showDecimal(was) : 'none',
    actual: is ? showDecimal(is) : 'none',
    answer: after.answer,
  })
}

/** Asks until the quota is lower, or until the time is over. */
async function askUsed(t: CheckContext, before: Amounts, receipt: Receipt, waitMs: number): Promise<Amounts> {
  const start = ourTimeMs()
  for (let look = 0; ; look++) {
    const pauseMs = pausesMs[Math.min(look, pausesMs.length - 1)] ?? 0
    await delay(Math.min(pauseMs, Math.max(0, waitMs - (ourTimeMs() - start))))
    const after = await ask(t)
    const isUsed = judgeUse(t, before.unit, toNumber(useBetween(before, after)), receipt) !== 'nothing'
    if (isUsed || ourTimeMs() - start >= waitMs) return after
  }
}

/**
 * Whether the quota fell by more than one call uses. The target may have set this amount aside, and may give it
 * back.
 */
function mayBeReserved(unit: unknown, used: number, receipt: Receipt): boolean {
  if (unit === 'gas') return used > 2 * Number(receipt.gasUsed)
  return used > (unit === 'transactionCount' ? 1 : 2 * feeLyxOf(receipt))
}

/**
 * Asks until the target gives the reservation back, or until the time is over. Returns what it booked in its place.
 */
async function askReleased(t: CheckContext, before: Amounts, reserved: Amounts, receipt: Receipt, waitMs: number) {
  const start = ourTimeMs()
  for (;;) {
    await delay(releasePauseMs)
    const now = await ask(t)
    const isUsed = judgeUse(t, before.unit, toNumber(useBetween(before, now)), receipt) !== 'nothing'
    if (!isUsed) return askUsed(t, before, receipt, waitMs)
    if (compareDecimals(now.quota, reserved.quota) !== 0 || ourTimeMs() - start >= releaseMs) return now
  }
}

/**
 * Executes one call between two answers.
 *
 * @returns what the answers show; undefined when the quota did not fall
 */
async function executeOnce(
  t: CheckContext,
  waitMs: number,
  options: ValidOptions,
): Promise<{ readonly isUsed: boolean; readonly fault: Fault }> {
  const before = await askSettled(t)
  const start = ourTimeMs()
  const { settled } = await expectTwin(t, options)
  const receipt = settled?.receipt
  if (!receipt)
    throw new Untestable('the cost of the call is not known', { because: 'relay.execute.hash-of-transaction' })
  const first = await askUsed(t, before, receipt, waitMs)
  const isReserved = mayBeReserved(before.unit, toNumber(useBetween(before, first)), receipt)
  const after = isReserved ? await askReleased(t, before, first, receipt, waitMs) : first
  const used = useBetween(before, after)
  const way = `quota went from ${showDecimal(before.quota)} to ${showDecimal(after.quota)} ${String(before.unit)}`
  const seen = `${way}, for ${Number(receipt.gasUsed)} gas used`
  const fault = new Fault('an execution does not lower quota by the amount that it used', {
    expected: 'quota is lower by the amount that the execution used',
    actual: seen,
    answer: after.answer,
  })
  if (hasReset(before, after, (ourTimeMs() - start) / 1000)) return { isUsed: false, fault }
  await expectSameTotal(t, before, after)
  const judged = judgeUse(t, before.unit, toNumber(used), receipt)
  if (judged === 'nothing') requireVisibleUse(before, after, receipt)
  if (judged === 'absurd') throw fault
  if (judged === 'used') t.observe(seen)
  else if (before.totalQuota === undefined) t.observe(`pay-as-you-go: ${seen}`)
  if (judged === 'used') (await useOf(t)).first ??= { before: await mostOf(t, before), atMs: ourTimeMs() }
  return { isUsed: judged === 'used' || before.totalQuota === undefined, fault }
}

/**
 * Executes calls until the quota is seen to be lower.
 *
 * @throws Fault when it is not
 */
async function expectUsed(t: CheckContext, options: ValidOptions = {}): Promise<void> {
  let last: Fault | undefined
  // A little longer than a receipt may take, for a target that books once in such a time.
  const mostMs = 1.1 * t.patience.receiptMs()
  for (const waitMs of settleMs) {
    const { isUsed, fault } = await executeOnce(t, Math.min(waitMs, mostMs), options)
    if (isUsed) return
    last = fault
  }
  if (last) throw last
}

/**
 * A call that names the profile in lower case is charged to the profile. A target may refuse such a call.
 *
 * @throws Fault when it is charged to nobody
 */
async function expectUsedInLowerCase(t: CheckContext): Promise<void> {
  if (!(await useOf(t)).first) return t.observe('not seen: a call that lowers the quota')
  const address = t.fixture.profile.address.toLowerCase()
  if (!isDone(t, await attemptCall(t, { address }))) return t.observe('not seen: an address in lower case is refused')
  await expectUsed(t, { address })
}

const isUntouched = ({ quota, totalQuota }: ToldQuota): boolean =>
  quota !== undefined && totalQuota !== undefined && compareDecimals(quota, totalQuota) === 0

/**
 * The quota is that of the profile, also where the request names it in lower case.
 *
 * @throws Fault when nothing was used of the quota in lower case, and something of the other
 */
async function expectOneAccount(t: CheckContext): Promise<void> {
  const start = ourTimeMs()
  for (;;) {
    const whole = await ask(t)
    const answer = await sendForbidden(t, (valid) => ({ ...valid, address: valid.address.toLowerCase() }))
    if (!tellsQuota(answer)) return t.observe('not seen: an address in lower case is refused')
    const lower = readTold(answer)
    if (isUntouched(whole) || !isUntouched(lower) || isUntouched(await ask(t))) return
    // The target may tell what it has told before, for a while.
    if (ourTimeMs() - start < 1.1 * t.patience.receiptMs()) {
      await delay(releasePauseMs)
      continue
    }
    throw new Fault('the quota of the profile in lower case is another one, of which nothing was used', {
      expected: `${showDecimal(whole.quota)}, as for the address with its checksum`,
      actual: lower.quota ? showDecimal(lower.quota) : 'none',
      answer,
    })
  }
}

/** Whether the quota shows most of the gas of all calls, so that nothing is left to wait for. */
function isBooked({ fixture }: CheckContext, { unit }: Amounts, used: number, receipts: readonly Receipt[]): boolean {
  const gas = receipts.reduce((sum, { gasUsed }) => sum + Number(gasUsed), 0)
  const isShared = receipts.some((receipt) => mayBeShared(receipt, fixture.profile.keyManager))
  if (unit === 'gas') return isShared ? used > 0 : used >= 0.9 * gas && used <= 2 * gas
  return unit === 'transactionCount' ? used >= receipts.length : used > 0
}

/**
 * The quota is not what it was before the calls of the run.
 *
 * @throws Fault when it is
 */
async function expectStillUsed(t: CheckContext): Promise<void> {
  const { before, atMs = 0 } = (await useOf(t)).first ?? {}
  const resetsAt = secondsOf(before?.resetDate)
  // Without a total there is nothing to add up. Without a reset date, the allowance may have begun anew.
  if (!before?.totalQuota || resetsAt === undefined) return
  const receipts = (await executedCalls(t)).map(({ receipt }) => receipt)
  const start = ourTimeMs()
  for (;;) {
    const now = await ask(t)
    const isSame = now.totalQuota && compareDecimals(now.totalQuota, before.totalQuota) === 0
    if (!isSame || t.clock.now() >= resetsAt - 1) return
    // A higher quota than before comes from reservations that were given back. For a count of few calls the two could
    // be equal.
    const isAsBefore = before.unit !== 'transactionCount' && compareDecimals(now.quota, before.quota) === 0
    if (isAsBefore || compareDecimals(now.quota, before.totalQuota) === 0) {
      throw new Fault('quota is again as high as before the calls of this run', {
        expected: `less than ${showDecimal(before.quota)}, or than totalQuota, until the reset`,
        actual: `${showDecimal(now.quota)} ${String(now.unit)}`,
        answer: now.answer,
      })
    }
    const isEnough = isBooked(t, before, toNumber(minus(before.quota, now.quota)), receipts)
    if ((isEnough && ourTimeMs() - atMs >= keptMs) || ourTimeMs() - start >= stillMs) return
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
      // In its turn, no other run on this machine changes the quota.
      inTurn(t, () => expectUsed(t)),
    )

    const atTheEnd = { needs: ['chain', 'fixture', 'spend'], isLast: true } as const
    check('a call with the address in lower case lowers the same quota', atTheEnd, (t) =>
      inTurn(t, () => expectUsedInLowerCase(t)),
    )

    check('the address in lower case has the same quota', atTheEnd, expectOneAccount)

    check('quota does not return to its old value before the reset', atTheEnd, (t) =>
      inTurn(t, () => expectStillUsed(t)),
    )
  }),
]
