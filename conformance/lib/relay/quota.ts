import { setTimeout as delay } from 'node:timers/promises'
import { describeAnswer, type Answer } from '../answer.ts'
import type { CheckContext } from '../context.ts'
import type { Account } from '../fixture.ts'
import { Fault } from '../outcome.ts'
import { ourTimeMs } from '../target-clock.ts'
import { excuseMs } from './refusal.ts'
import { tellsQuota, readTold, tellsAmount, type ToldQuota } from './quota-answer.ts'
import {
  nextFree,
  nextSecond,
  quotaSession,
  refusalAfter,
  sendBody,
  signBody,
  type QuotaBody,
  type QuotaSession,
  type SentQuota,
} from './quota-session.ts'

/** A twin that was served within this time counts for the next refusal as well: the target may limit what it serves. */
const twinLastsMs = 5000
/** How often a second is tried that another run may have used before. */
const attempts = 8
/** An answer that takes longer may have been late for the window. */
const slowSeconds = 1

/** Sends a body for a second near the target's now that may still be used. */
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

/**
 * Asks with a valid body.
 * @throws Fault when the target refuses it: it has served others
 */
export async function askQuota(t: CheckContext, controller?: Account): Promise<ToldQuota> {
  const session = await quotaSession(t)
  for (let attempt = 1; ; attempt++) {
    const sent = await sendFresh(t, session, (seconds) => signBody(t, session, seconds, controller), true)
    if (sent.toldQuota) {
      session.lastServedMs = ourTimeMs()
      return readTold(sent.answer)
    }
    const isSlow = sent.receivedAt - sent.sentAt > slowSeconds
    const waitMs = excuseMs(sent.answer, attempt)
    const mayBeUsed = (!session.servesReplays || session.wantsRising) && attempt < attempts
    if (!mayBeUsed && waitMs === undefined && !(isSlow && attempt < attempts)) throw await refusalAfter(t, sent.answer)
    if (waitMs !== undefined) await delay(waitMs)
  }
}

/** What the first valid message of the run was told. @throws Fault */
export async function firstTold(t: CheckContext): Promise<ToldQuota> {
  return readTold((await quotaSession(t)).first)
}

/**
 * Sends a body that is to be refused, near a valid one that is served.
 *
 * @param make the body, out of the valid one
 * @returns the answer
 * @throws Fault when the valid one is refused: then a refusal of the other proves nothing
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

/** @throws Fault when the target told a quota; no answer at all is none, as a quota of zero is, and is noted */
export function expectNoQuota(t: CheckContext, answer: Answer, fault: string): void {
  if (answer.failure) t.observe(`${fault}: ${answer.failure.message}`)
  if (!tellsQuota(answer)) return
  if (!tellsAmount(answer)) return t.observe(`${fault}: answered with a status of success and no amount`)
  throw new Fault(`a quota was told for ${fault}`, {
    expected: 'an answer without quota',
    actual: describeAnswer(answer),
    answer,
  })
}

/** Sends a body that is to be refused. @throws Fault when it is served */
export async function expectRefused(
  t: CheckContext,
  what: string,
  make: (valid: QuotaBody, session: QuotaSession) => unknown,
): Promise<void> {
  expectNoQuota(t, await sendForbidden(t, make), what)
}
