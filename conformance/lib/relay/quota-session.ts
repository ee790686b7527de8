import { type Answer, describeAnswer, isHungUp, isSuccess, objectOf, wordsOf } from '../answer.ts'
import type { CheckContext } from '../clause.ts'
import type { Account } from '../fixture.ts'
import { Fault, Untestable } from '../outcome.ts'
import {
  asksForCredential,
  demandsCredential,
  excuseMs,
  faultsOf,
  limitError,
  noReason,
  saysUnregistered,
  tellsAmount,
  tellsOfLimit,
  tellsQuota,
  type UntoldReason,
  untoldWaitMs,
} from './answers.ts'
import { editionTerms } from '../target.ts'
import { quotaReadings, signQuota, type QuotaReading } from './message.ts'
import {
  isNarrow,
  measureRising,
  measureWindow,
  risingAfterSeconds,
  testNarrow,
  type Probe,
  type QuotaWindow,
} from './quota-window.ts'
import { executedCalls } from './receipt.ts'
import { delay, ourTimeMs, randomFraction } from '../world.ts'

/** The documented body of POST /quota. */
export interface QuotaBody {
  readonly address: string
  readonly timestamp: number
  readonly signature: string
}

/** How the target reads a signed message. */
export interface QuotaForm {
  readonly reading: QuotaReading
  /** 1: the timestamp is in seconds, as in the document; 1000: in milliseconds. */
  readonly perSecond: 1 | 1000
}

/** A message that the run sent, and its answer. */
export interface SentQuota extends Probe {
  readonly answer: Answer
}

/** What the checks of a run share about POST /quota. */
export interface QuotaSession extends QuotaForm {
  /** The answer to the first message that the target served. */
  readonly first: Answer
  /** When that message was sent, in ms of this machine. */
  readonly firstSentMs: number
  /** The answer to a message in seconds, when the target takes only milliseconds. */
  readonly secondsRefused: Answer | undefined
  /** Whether the target serves the same signed message twice. The document says nothing of this. */
  readonly servesReplays: boolean
  /**
   * Whether the target refuses a message that is older than the one before. The document says nothing of this
   * either.
   */
  readonly wantsRising: boolean
  readonly window: QuotaWindow<SentQuota>
  /** The latest second for which the run has sent a message. */
  latest: number
  /** The time of this machine in ms when the target last served a valid message. */
  lastServedMs: number
}

/** Half of the widest window that a documented service has, in seconds: where a window of unknown width is searched. */
const widestHalfSeconds = 300
/** The messages of the run stay this many seconds from the middle of the window at most. */
const marginSeconds = 2
/**
 * Offsets to try for a target that does not tell its time, in seconds: an hour, whole minutes, and every offset up
 * to two minutes in steps that are shorter than the window.
 */
const likelyOffsets = [
  3600,
  ...Array.from({ length: 10 }, (_, index) => 60 * (index + 1)),
  ...Array.from({ length: 15 }, (_, index) => 8 * (index + 1)),
]
/** How many seconds to try, since another run may have used one before. */
const attempts = 4

function ourSeconds(): number {
  return ourTimeMs() / 1000
}

/** The signed body of a valid request for this second. */
export function signBody(
  t: CheckContext,
  { reading, perSecond }: QuotaForm,
  seconds: number,
  controller: Account = t.fixture.controllers.full,
): QuotaBody {
  const message = { address: t.fixture.profile.address, timestamp: seconds * perSecond }
  return { ...message, signature: signQuota(message, controller, reading) }
}

/**
 * Sends a body for a second, and again when the refusal may come from a limit of the target. `choose` picks the second before
 * each attempt, since a signed timestamp ages meanwhile. The function judges the members of an answer that tells a quota.
 *
 * @param isValid `perhaps`: the second is at an end of the window
 */
export async function sendBody(
  t: CheckContext,
  choose: () => number,
  make: (seconds: number) => unknown,
  isValid: boolean | 'perhaps',
): Promise<SentQuota> {
  const lasting = await t.once('relay.quota.lasting-refusals', async () => new Set<string>())
  for (let attempt = 1; ; attempt++) {
    const sent = await sendOnce(t, choose, make, isValid)
    if (sent.toldQuota) return sent
    const words = `${isValid ? 'valid' : 'forged'}: ${wordsOf(sent.answer)}`
    const waitMs = lasting.has(words) ? undefined : excuseMs(sent.answer, attempt, isValid ? t.patience : undefined)
    // A refusal that says "limit" and does not go away is about the message: the target says the same of others like it.
    if (waitMs === undefined && attempt > 1) lasting.add(words)
    if (waitMs === undefined) return sent
    await delay(waitMs)
  }
}

async function sendOnce(
  t: CheckContext,
  choose: () => number,
  make: (seconds: number) => unknown,
  isValid: boolean | 'perhaps',
): Promise<SentQuota> {
  let timestamp = 0
  let sentAt = 0
  const body = (): unknown => {
    timestamp = choose()
    sentAt = ourSeconds()
    return make(timestamp)
  }
  const answer = await t.relay.quota(body, isValid ? { owedBy: 'relay.quota.post' } : {})
  // Such a message may be refused, and the refusal may hold a zero. So only an amount counts as served.
  const served = isValid === 'perhaps' ? tellsAmount(answer) : tellsQuota(answer)
  // The document does not show what a refusal holds.
  if (served && isValid) for (const fault of faultsOf(answer)) t.accuse(fault)
  return { answer, timestamp, sentAt, receivedAt: ourSeconds(), toldQuota: served }
}

/** What may be behind refusals of valid messages. */
export function untoldOf(t: CheckContext): Promise<UntoldReason> {
  return t.once('relay.quota.untold', async () => noReason())
}

/**
 * How long to wait before a valid message is sent again to a target that refused it and has served others: at first not at all.
 *
 * @param sentAgain how often the message was sent again
 * @returns ms; undefined when sending it again is no help
 */
export async function waitUntoldMs(t: CheckContext, refusal: Answer, sentAgain: number): Promise<number | undefined> {
  if ((refusal.failure && !isHungUp(refusal)) || asksForCredential(refusal)) return undefined
  return sentAgain === 0 ? 0 : untoldWaitMs(await untoldOf(t), sentAgain - 1)
}

/** Pauses between a valid message that was served and the message that is tested beside it: a target may serve one a second. */
const besideMs = [0, 500, 2000]

/**
 * Tests a message that was refused right after valid ones that are served, since a target may limit its callers, and not
 * say so.
 *
 * @param serveTwin sends valid messages until the target serves one
 * @returns the answer that served the message, or the last refusal of several
 */
export async function askBesideTwins(
  serveTwin: () => Promise<unknown>,
  ask: () => Promise<SentQuota>,
): Promise<SentQuota> {
  for (let test = 0; ; test++) {
    await serveTwin()
    await delay(besideMs[test] ?? 0)
    const sent = await ask()
    if (sent.toldQuota || test === besideMs.length - 1) return sent
  }
}

/**
 * A second near the target's time for the next message; undefined: wait for the next second. For a target that takes
 * a message once, or wants rising timestamps, the seconds rise. The choice may leave out a second, since another run
 * may use it.
 */
export function nextFree(t: CheckContext, { servesReplays, wantsRising, latest }: QuotaSession): number | undefined {
  const now = t.clock.now()
  if (servesReplays && !wantsRising) return now
  const least = Math.max(now - marginSeconds, servesReplays ? latest : latest + 1 + Math.round(randomFraction()))
  return least <= now + marginSeconds ? least : undefined
}

/** Waits until the next second begins by the target's clock. */
export async function nextSecond(t: CheckContext): Promise<void> {
  const nowMs = ourTimeMs() + t.clock.offsetSeconds * 1000
  await delay(1000 - (nowMs % 1000) + 20)
}

/** The fault of a target that refuses every valid message; Untestable where it says that nobody registered the profile. */
async function refusalOf(t: CheckContext, refused: Answer): Promise<Error> {
  requireVerifiedFixture(t, refused)
  if (saysUnregistered(refused)) return unregisteredError(t, refused)
  const body = objectOf(refused)
  if (isSuccess(refused) && body && 'quota' in body) {
    return new Fault('quota is not a number', {
      expected: 'a number',
      actual: 'null',
      answer: refused,
      of: 'relay.quota.quota-number',
    })
  }
  const isDemand = await demandsCredential(refused, () => t.relay.quota({}))
  return new Fault('a valid request was not served', {
    expected: 'a status of success and an object with quota',
    actual: describeAnswer(refused),
    answer: refused,
    of: isDemand ? 'relay.auth.no-other-credential' : 'relay.quota.post',
  })
}

/**
 * Makes sure that the run has a chain, without which nobody knows whether the fixture is true.
 *
 * @throws Untestable without a chain
 */
export function requireVerifiedFixture(t: CheckContext, refusal: Answer): void {
  if (t.hasChain) return
  throw new Untestable(
    `the target refuses, and without a chain nobody knows whether rightly: ${describeAnswer(refusal)}`,
  )
}

/** What keeps a run from judging a target that has served nothing for the profile, and says that it does not know it. */
export function unregisteredError(t: CheckContext, refusal: Answer): Untestable {
  const said = `the target says that the profile ${t.fixture.profile.address} is not registered with it`
  t.note(`${said}: have it registered, and run again`)
  return new Untestable(`${said}: ${describeAnswer(refusal)}`)
}

/** Offsets that the target's clock may have from ours, in seconds, the most likely first. */
async function supposedOffsets(t: CheckContext): Promise<number[]> {
  const offsets = [t.clock.offsetSeconds, 0]
  if (t.hasChain) {
    const { timestamp } = (await t.chain.send('eth_getBlockByNumber', ['latest', false])) as { timestamp: string }
    offsets.push(Number(timestamp) - ourSeconds())
  }
  return offsets.filter(
    (offset, index) => offsets.findIndex((other) => Math.abs(other - offset) <= marginSeconds) === index,
  )
}

/** Whether the status says that nothing serves the path, or that the service is broken. */
function isHopeless({ status = 0 }: Answer): boolean {
  return status === 404 || status === 405 || status === 501 || (status >= 500 && status !== 503)
}

interface Found {
  readonly form: QuotaForm
  readonly served: SentQuota
  /** The target's supposed time minus the time of this machine, in seconds. */
  readonly offset: number
}

/** A random second near now, since another run may use the same one. */
function randomAway(): number {
  return Math.floor(randomFraction() * (marginSeconds + 1)) - 1
}

/** Tries the readings that a target may have, the documented one first. */
async function findForm(t: CheckContext): Promise<Found | { readonly refused: Answer }> {
  let refused: Answer | undefined
  const offer = async (form: QuotaForm, offset: number, away = randomAway()): Promise<Found | undefined> => {
    const choose = (): number => Math.floor(ourSeconds() + offset) + away
    const served = await sendBody(t, choose, (seconds) => signBody(t, form, seconds), true)
    refused ??= served.answer
    return served.toldQuota ? { form, served, offset } : undefined
  }
  const { quotaMessage } = editionTerms[t.edition]
  const documented: QuotaForm = { reading: quotaMessage, perSecond: 1 }
  const offsets = await supposedOffsets(t)
  for (let sentAgain = 1; ; sentAgain++) {
    // Several tries: another run may have used the first second, and a window may reach to one side alone.
    for (const away of [undefined, 0, 1, -1]) {
      for (const offset of offsets) {
        const found = await offer(documented, offset, away)
        if (found) return found
        if (refused && isHopeless(refused)) return { refused }
      }
    }
    const isKnownToServe = (await executedCalls(t)).length > 0
    const waitMs = refused && isKnownToServe ? await waitUntoldMs(t, refused, sentAgain) : undefined
    if (waitMs === undefined) break
    await delay(waitMs)
  }
  for (const perSecond of [1, 1000] as const) {
    for (const reading of quotaReadings.filter((one) => perSecond === 1000 || one !== quotaMessage)) {
      for (const offset of offsets) {
        const found = await offer({ reading, perSecond }, offset)
        if (found) return found
      }
    }
  }
  for (const away of likelyOffsets) {
    for (const offset of [-away, away]) {
      const found = await offer(documented, offset)
      if (found) return found
    }
  }
  if (!refused) throw new Error('nothing was offered')
  return { refused }
}

/**
 * Whether the target serves a message a second time.
 *
 * @throws Fault when it serves the message once and no valid one afterwards
 */
async function takesReplays(t: CheckContext, { form, served, offset }: Found): Promise<boolean> {
  const send = (seconds: number) =>
    sendBody(
      t,
      () => seconds,
      (second) => signBody(t, form, second),
      true,
    )
  let last = served
  // A second look, since the target may refuse a message now and then.
  for (let look = 0; look < 2; look++) {
    if ((await send(last.timestamp)).toldQuota) return true
    let fresh: SentQuota | undefined
    let sentAgain = 1
    for (let attempt = 0; !fresh?.toldQuota; attempt++) {
      const inTurnMs = attempt === 0 ? 0 : 1000
      const waitMs = attempt < attempts || !fresh ? inTurnMs : await waitUntoldMs(t, fresh.answer, sentAgain++)
      if (waitMs === undefined) throw await refusalAfter(t, fresh?.answer ?? served.answer)
      await delay(waitMs)
      fresh = await send(Math.max(last.timestamp + 1 + attempt, Math.floor(ourSeconds() + offset)))
    }
    last = fresh
  }
  return false
}

/** The fault of a target that served valid messages and then refused one; Untestable where a limit may explain it. */
export async function refusalAfter(t: CheckContext, answer: Answer): Promise<Error> {
  if (tellsOfLimit(answer)) return limitError(answer)
  const isDemand = await demandsCredential(answer, () => t.relay.quota({}))
  return new Fault('the target refused a valid request after it had served others like it', {
    expected: 'a status of success and an object with quota',
    actual: describeAnswer(answer),
    answer,
    of: isDemand ? 'relay.auth.no-other-credential' : 'relay.quota.post',
  })
}

interface Measured {
  readonly window: QuotaWindow<SentQuota>
  readonly wantsRising: boolean
}

/**
 * Looks for the ends of the window. The quick way needs a target that serves a message twice; the slow way does not.
 */
async function measure(t: CheckContext, found: Found, servesReplays: boolean): Promise<Measured> {
  const { form, served, offset } = found
  const documented = editionTerms[t.edition].halfWindowSeconds
  const half = documented ?? widestHalfSeconds
  let lastServed = served.timestamp
  const ask = async (away: number): Promise<SentQuota> => {
    const choose = (): number => Math.floor(ourSeconds() + offset + away)
    const isValid = tellsAmount(served.answer) ? 'perhaps' : true
    const sent = await sendBody(t, choose, (seconds) => signBody(t, form, seconds), isValid)
    const { failure } = sent.answer
    if (failure && failure.kind !== 'closed') throw new Untestable(`the window cannot be measured: ${failure.message}`)
    if (sent.toldQuota) lastServed = Math.max(lastServed, sent.timestamp)
    return sent
  }
  const untilWhole = (away: number): Promise<void> => {
    const supposed = ourSeconds() + offset + away
    return delay((Math.ceil(supposed) - supposed) * 1000 + 5)
  }
  /** Waits until the second at this distance comes after all that were served. */
  const untilRisen = (away: number): Promise<void> => {
    const supposed = ourSeconds() + offset + away
    return delay(Math.max(0, lastServed + 1 - supposed) * 1000 + 5)
  }
  const asking = { ask, untilWhole, supposedOffset: offset }
  const test = (window: QuotaWindow<SentQuota>, isRising: boolean): Promise<QuotaWindow<SentQuota>> => {
    const askBeside = async (away: number): Promise<SentQuota> => {
      if (isRising) await untilRisen(away)
      return ask(away)
    }
    const nearFirst = Math.ceil(served.timestamp - served.sentAt - offset)
    const serveTwin = () => untilServed(t, () => askBeside(nearFirst))
    const askSurely = (away: number) =>
      askBesideTwins(serveTwin, async () => {
        await untilWhole(away)
        return askBeside(away)
      })
    return testNarrow({ ask: askSurely, supposedOffset: offset }, window, served, half)
  }
  const first = await (servesReplays ? measureWindow : measureRising)(asking, served, half)
  // For a long window, the slow way and its tests would take minutes.
  const isLong = half === widestHalfSeconds
  if (documented === null || (isLong && !servesReplays)) return { window: first, wantsRising: !servesReplays }
  const quick = await test(first, !servesReplays)
  if (isLong || !isNarrow(quick, half)) return { window: quick, wantsRising: !servesReplays }
  await delay(risingAfterSeconds(half) * 1000 + Math.max(0, quick.latest.timestamp - offset - ourSeconds()) * 1000)
  const slow = await test(await measureRising(asking, served, half), true)
  return isNarrow(slow, half) ? { window: quick, wantsRising: !servesReplays } : { window: slow, wantsRising: true }
}

/** Sends valid messages until the target serves one. @throws Fault when it serves none, since it has served others */
async function untilServed(t: CheckContext, ask: () => Promise<SentQuota>): Promise<void> {
  for (let sentAgain = 0; ; sentAgain++) {
    const { answer, toldQuota } = await ask()
    if (toldQuota) return
    const waitMs = await waitUntoldMs(t, answer, sentAgain)
    if (waitMs === undefined) throw await refusalAfter(t, answer)
    await delay(waitMs)
  }
}

async function openSession(t: CheckContext): Promise<QuotaSession> {
  const found = await findForm(t)
  if ('refused' in found) throw await refusalOf(t, found.refused)
  const { form, served, offset } = found
  // What was refused before was of another form or time.
  const untold = await untoldOf(t)
  untold.inVain = 0
  const secondsRefused = form.perSecond === 1 ? undefined : (await secondsOnceMore(t, form, offset)).answer
  const servesReplays = await takesReplays(t, found)
  const { window, wantsRising } = await measure(t, found, servesReplays)
  // A proxy may write the Date header. The window that the target accepts shows the target's own clock.
  const clockOffset = window.middle ?? offset
  if (t.clock.measuredBy === null || Math.abs(clockOffset - t.clock.offsetSeconds) > 1.5) t.clock.set(clockOffset)
  const latest = window.latest.timestamp
  return {
    ...form,
    first: served.answer,
    firstSentMs: served.sentAt * 1000,
    secondsRefused,
    servesReplays,
    wantsRising,
    window,
    latest,
    lastServedMs: ourTimeMs(),
  }
}

/** Sends a message in seconds to a target that takes milliseconds, right after one that it served. */
function secondsOnceMore(t: CheckContext, { reading }: QuotaForm, offset: number): Promise<SentQuota> {
  const now = (): number => Math.floor(ourSeconds() + offset)
  return sendBody(t, now, (seconds) => signBody(t, { reading, perSecond: 1 }, seconds), true)
}

/**
 * How the target takes signed messages: the reading, the unit of time, whether it serves a message twice, and the
 * window, whose middle is the target's time. Found out once in a run.
 *
 * @throws Fault of the clause that promises to serve a valid request
 */
export function quotaSession(t: CheckContext): Promise<QuotaSession> {
  return t.once('relay.quota.session', openSession)
}
