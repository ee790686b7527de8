import { type Answer, describeAnswer } from '../answer.ts'
import type { CheckContext } from '../clause.ts'
import { Fault } from '../outcome.ts'
import {
  limitError,
  readTold,
  refusesNowAndThen,
  tellsAmount,
  tellsOfLimit,
  tellsQuota,
  type ToldQuota,
} from './answers.ts'
import {
  askBesideTwins,
  nextFree,
  nextSecond,
  quotaSession,
  refusalAfter,
  sendBody,
  signBody,
  untoldOf,
  waitUntoldMs,
  type QuotaBody,
  type QuotaSession,
  type SentQuota,
} from './quota-session.ts'
import { delay, ourTimeMs } from '../world.ts'

/** A twin that was served counts for the refusals within this time, since a target may limit how often it serves. */
const twinLastsMs = 5000
/** How many seconds to try, since another run may have used one before. */
const attempts = 8
/** An answer that took longer may be to a message that arrived too late. */
const slowSeconds = 1

/** Sends a body for a second near the target's time that no message has used. */
async function sendFresh(
  t: CheckContext,
  session: QuotaSession,
  make: (seconds: number) => unknown,
  isValid: boolean,
): Promise<SentQuota> {
  while (nextFree(t, session) === undefined) await nextSecond(t)
  const choose = (): number => {
    const second = nextFree(t, session) ?? t.clock.now()
    session.latest = Math.max(session.latest, second)
    return second
  }
  return sendBody(t, choose, make, isValid)
}

/** @throws Fault when the target refuses valid messages now and then */
async function noteRefusal(t: CheckContext, refused: SentQuota, served: SentQuota): Promise<void> {
  const afterMs = (served.sentAt - refused.receivedAt) * 1000
  if (refusesNowAndThen(await untoldOf(t), afterMs)) throw await refusalAfter(t, refused.answer)
  t.observe(`a valid message was refused, and one like it served later: ${describeAnswer(refused.answer)}`)
}

/**
 * Asks for the quota with a valid body.
 *
 * @throws Fault when the target refuses it, since it has served others
 */
export async function askQuota(t: CheckContext): Promise<ToldQuota> {
  const session = await quotaSession(t)
  let refused: SentQuota | undefined
  let sentAgain = 0
  for (let attempt = 1; ; attempt++) {
    const sent = await sendFresh(t, session, (seconds) => signBody(t, session, seconds), true)
    if (sent.toldQuota) {
      if (sentAgain > 0 && refused) await noteRefusal(t, refused, sent)
      session.lastServedMs = ourTimeMs()
      return readTold(sent.answer)
    }
    refused = sent
    const { answer } = sent
    const isSlow = sent.receivedAt - sent.sentAt > slowSeconds
    const mayBeUsed = !session.servesReplays || session.wantsRising
    if (attempt < attempts && (mayBeUsed || isSlow)) continue
    const waitMs = await waitUntoldMs(t, answer, sentAgain++)
    if (waitMs === undefined) throw await refusalAfter(t, answer)
    await delay(waitMs)
  }
}

/**
 * The quota that the target told to the first valid message of the run.
 *
 * @throws Fault when it served none
 */
export async function firstTold(t: CheckContext): Promise<ToldQuota> {
  return readTold((await quotaSession(t)).first)
}

/**
 * Sends a body that the target must refuse, near a valid one that it served.
 *
 * @param make makes the body from the valid one
 * @throws Fault when the target refuses the valid body: its refusal of the other then proves nothing
 */
export async function sendForbidden(
  t: CheckContext,
  make: (valid: QuotaBody, session: QuotaSession) => unknown,
): Promise<Answer> {
  const session = await quotaSession(t)
  if (ourTimeMs() - session.lastServedMs > twinLastsMs) await askQuota(t)
  const { answer } = await sendFresh(t, session, (seconds) => make(signBody(t, session, seconds), session), false)
  return answer
}

/**
 * Sends another valid body, which the target may refuse for what it holds.
 *
 * @param make makes the body from the one whose kind the target serves
 * @returns the refusal, where the target serves others beside it; undefined: it was served
 * @throws Untestable when a limit may explain it
 */
export async function refusalOfVariant(
  t: CheckContext,
  make: (valid: QuotaBody, session: QuotaSession) => QuotaBody,
): Promise<Answer | undefined> {
  const session = await quotaSession(t)
  const ask = () => sendFresh(t, session, (seconds) => make(signBody(t, session, seconds), session), true)
  if ((await ask()).toldQuota) return undefined
  const { answer, toldQuota } = await askBesideTwins(() => askQuota(t), ask)
  if (toldQuota) return undefined
  if (tellsOfLimit(answer)) throw limitError(answer)
  return answer
}

/**
 * The answer tells no quota. A missing answer and a quota of zero are observed.
 *
 * @throws Fault when the answer tells an amount
 */
export function expectNoQuota(t: CheckContext, answer: Answer, fault: string): void {
  if (answer.failure) t.observe(`${fault}: ${answer.failure.message}`)
  if (!tellsQuota(answer)) return
  if (!tellsAmount(answer)) return t.observe(`${fault}: answered with a status of success and no amount`)
  throw new Fault(`the target told a quota for ${fault}`, {
    expected: 'an answer without quota',
    actual: describeAnswer(answer),
    answer,
  })
}

/**
 * Sends a body that the target must refuse.
 *
 * @throws Fault when the answer tells a quota
 */
export async function expectRefused(
  t: CheckContext,
  what: string,
  make: (valid: QuotaBody, session: QuotaSession) => unknown,
): Promise<void> {
  expectNoQuota(t, await sendForbidden(t, make), what)
}
