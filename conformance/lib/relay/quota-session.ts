import { setTimeout as delay } from 'node:timers/promises'
import { describe, isSuccess, objectOf, type Answer } from '../answer.ts'
import type { CheckContext } from '../context.ts'
import type { Account } from '../fixture.ts'
import { Fault, Untestable } from '../outcome.ts'
import { ourTimeMs } from '../target-clock.ts'
import { demandsCredential } from './credential.ts'
import { faultsOf, isServed } from './quota-answer.ts'
import { quotaReadings, signQuota, type QuotaReading } from './quota-message.ts'
import { measureWindow, type Probe, type QuotaWindow } from './quota-window.ts'

/** The documented body of POST /quota. */
export interface QuotaBody {
  readonly address: string
  readonly timestamp: number
  readonly signature: string
}

/** How the target takes a signed message. */
export interface QuotaForm {
  readonly reading: QuotaReading
  /** 1: seconds, as the document has it. */
  readonly perSecond: 1 | 1000
}

/** A message that was sent, and what came of it. */
export interface SentQuota extends Probe {
  readonly answer: Answer
}

/** What the checks of a run share on POST /quota. */
export interface QuotaSession extends QuotaForm {
  /** The first answer that was served. */
  readonly first: Answer
  /** The answer to seconds, where only milliseconds are taken. */
  readonly secondsRefused: Answer | undefined
  /** Whether the same signed message is served again: the document says nothing of it. */
  readonly servesReplays: boolean
  readonly window: QuotaWindow<SentQuota>
  /** The seconds whose message was sent before. */
  readonly used: Set<number>
  /** Our time in ms when a valid message was last served. */
  lastServedMs: number
}

/** Half of the window that each edition documents, in seconds. */
export const halfWindowSeconds = { documents: 5, lip: 300 }
/** Messages of the run keep this close to the middle of the window. */
const marginSeconds = 2
/** Farther away than this no accepted second is looked for, but for clocks that are a whole hour off. */
const farthestSeconds = 120
const hourSeconds = 3600
/** Less than the width of the documented window. */
const strideSeconds = 8
/** How often a second is tried that another run may have used before. */
const attempts = 4

function ourSeconds(): number {
  return ourTimeMs() / 1000
}

/** Signs the body of a valid request but for what is given. */
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
 * Sends a body that is made for a second, which is chosen anew at each attempt: signed timestamps age while a rate
 * limit is waited for. What the target tells is judged by the sentences on its members.
 */
export async function sendBody(
  t: CheckContext,
  choose: () => number,
  make: (seconds: number) => unknown,
  isValid: boolean,
): Promise<SentQuota> {
  let timestamp = 0
  let sentAt = 0
  const body = (): unknown => {
    timestamp = choose()
    sentAt = ourSeconds()
    return make(timestamp)
  }
  const answer = await t.relay.quota(body, isValid ? { owedBy: 'relay.quota.post' } : {})
  const served = isServed(answer)
  if (served) for (const fault of faultsOf(answer)) t.accuse(fault)
  return { answer, timestamp, sentAt, receivedAt: ourSeconds(), isServed: served }
}

/** A second near the target's now whose message was not sent before; a random one, since another run may be at work. */
export function unusedSecond(t: CheckContext, used: ReadonlySet<number>): number | undefined {
  const now = t.clock.now()
  const seconds = Array.from({ length: 2 * marginSeconds + 1 }, (_, index) => now - marginSeconds + index)
  const free = seconds.filter((second) => !used.has(second))
  return free[Math.floor(Math.random() * free.length)]
}

/** Waits until the next second begins by the target's clock. */
export async function nextSecond(t: CheckContext): Promise<void> {
  const nowMs = ourTimeMs() + t.clock.offsetSeconds * 1000
  await delay(1000 - (nowMs % 1000) + 20)
}

/** Why nothing of POST /quota can be judged. */
async function refusalOf(t: CheckContext, refused: Answer): Promise<Error> {
  requireVerifiedFixture(t, refused)
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
    actual: describe(refused),
    answer: refused,
    of: isDemand ? 'relay.auth.no-other-credential' : 'relay.quota.post',
  })
}

/** Without the chain nobody knows whether the fixture is still true. @throws Untestable then */
export function requireVerifiedFixture(t: CheckContext, refusal: Answer): void {
  if (t.hasChain) return
  throw new Untestable(`refused, and without a chain it is not known whether rightly: ${describe(refusal)}`)
}

/** What may be the target's now, as differences to our time in seconds; the likeliest first. */
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

/** Nobody is there, or something is broken: no other message will be served. */
function isHopeless({ status = 0 }: Answer): boolean {
  return status === 404 || status === 405 || status === 501 || (status >= 500 && status !== 503)
}

interface Found {
  readonly form: QuotaForm
  readonly served: SentQuota
  /** The target's supposed time minus ours, in seconds. */
  readonly offset: number
}

/** Tries what a target may take, the documented first. */
async function findForm(t: CheckContext, used: Set<number>): Promise<Found | { readonly refused: Answer }> {
  let refused: Answer | undefined
  const offer = async (form: QuotaForm, offset: number): Promise<Found | undefined> => {
    const choose = (): number => {
      // Another run may be about to use the same second.
      const second = Math.floor(ourSeconds() + offset) - 1 + Math.floor(Math.random() * (marginSeconds + 1))
      used.add(second)
      return second
    }
    const served = await sendBody(t, choose, (seconds) => signBody(t, form, seconds), true)
    refused ??= served.answer
    return served.isServed ? { form, served, offset } : undefined
  }
  const documented: QuotaForm = { reading: 'personal message', perSecond: 1 }
  const offsets = await supposedOffsets(t)
  // Twice: another run may have used the first second.
  for (const offset of [...offsets, ...offsets]) {
    const found = await offer(documented, offset)
    if (found) return found
    if (refused && isHopeless(refused)) return { refused }
  }
  for (const perSecond of [1, 1000] as const) {
    for (const reading of quotaReadings.slice(perSecond === 1 ? 1 : 0)) {
      for (const offset of offsets) {
        const found = await offer({ reading, perSecond }, offset)
        if (found) return found
      }
    }
  }
  for (let away = strideSeconds; away <= farthestSeconds; away += strideSeconds) {
    for (const offset of [-away, away]) {
      const found = await offer(documented, offset)
      if (found) return found
    }
  }
  for (const offset of [-hourSeconds, hourSeconds]) {
    const found = await offer(documented, offset)
    if (found) return found
  }
  if (!refused) throw new Error('nothing was offered')
  return { refused }
}

/** Whether a message is served a second time. @throws Fault when the target serves once and nothing valid afterwards */
async function takesReplays(t: CheckContext, { form, served, offset }: Found, used: Set<number>): Promise<boolean> {
  const send = (seconds: number) =>
    sendBody(
      t,
      () => seconds,
      (second) => signBody(t, form, second),
      true,
    )
  let last = served
  // A second look, for a target that refuses now and then.
  for (let look = 0; look < 2; look++) {
    if ((await send(last.timestamp)).isServed) return true
    let fresh: SentQuota | undefined
    for (let attempt = 0; attempt < attempts && !fresh?.isServed; attempt++) {
      await delay(attempt === 0 ? 0 : 1000)
      let second = Math.floor(ourSeconds() + offset) + 1
      while (used.has(second)) second--
      used.add(second)
      fresh = await send(second)
    }
    if (!fresh?.isServed) throw await refusalAfter(fresh?.answer ?? served.answer)
    last = fresh
  }
  return false
}

/** The fault of a target that served valid messages and then refused one. */
export async function refusalAfter(answer: Answer): Promise<Fault> {
  return new Fault('a valid request was refused after others like it were served', {
    expected: 'a status of success and an object with quota',
    actual: describe(answer),
    answer,
    of: 'relay.quota.post',
  })
}

async function openSession(t: CheckContext): Promise<QuotaSession> {
  const used = new Set<number>()
  const found = await findForm(t, used)
  if ('refused' in found) throw await refusalOf(t, found.refused)
  const { form, served, offset } = found
  const secondsRefused = form.perSecond === 1 ? undefined : (await secondsOnceMore(t, form, offset)).answer
  const servesReplays = await takesReplays(t, found, used)
  const half = halfWindowSeconds[t.edition]
  const ask = async (away: number): Promise<SentQuota> => {
    let sent: SentQuota | undefined
    // Where each message is served once, another run may have used that of a second: inside of the window, a refusal
    // counts when that of the next seconds is refused as well.
    const looks = servesReplays || Math.abs(away) > half ? 1 : attempts
    for (let look = 0; look < looks && !sent?.isServed; look++) {
      const choose = (): number => Math.floor(ourSeconds() + offset + away)
      if (look > 0 || (!servesReplays && used.has(choose()))) await delay(1000)
      sent = await sendBody(
        t,
        () => {
          const second = choose()
          used.add(second)
          return second
        },
        (seconds) => signBody(t, form, seconds),
        true,
      )
      if (sent.answer.failure && sent.answer.failure.kind !== 'closed') {
        throw new Untestable(`the window cannot be measured: ${sent.answer.failure.message}`)
      }
    }
    return sent as SentQuota
  }
  const window = await measureWindow(ask, served, half)
  // The header may be another machine's; what the target accepts is its own word.
  if (window.middle !== undefined && Math.abs(window.middle - t.clock.offsetSeconds) > 1.5) t.clock.set(window.middle)
  else if (window.middle === undefined && Math.abs(offset - t.clock.offsetSeconds) > 1.5) t.clock.set(offset)
  else if (t.clock.measuredBy === null) t.clock.set(window.middle ?? offset)
  return {
    ...form,
    first: served.answer,
    secondsRefused,
    servesReplays,
    window,
    used,
    lastServedMs: ourTimeMs(),
  }
}

/** The same in seconds, side by side with milliseconds that were served. */
function secondsOnceMore(t: CheckContext, { reading }: QuotaForm, offset: number): Promise<SentQuota> {
  const now = (): number => Math.floor(ourSeconds() + offset)
  return sendBody(t, now, (seconds) => signBody(t, { reading, perSecond: 1 }, seconds), true)
}

/**
 * How the target takes signed messages, found out once: the reading, the unit of time, replays, and the window with
 * its middle, which is the target's now.
 *
 * @throws Fault of the clause by which a valid request must be served
 */
export function quotaSession(t: CheckContext): Promise<QuotaSession> {
  return t.once('relay.quota.session', openSession)
}
