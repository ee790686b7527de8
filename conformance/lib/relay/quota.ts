import { setTimeout as delay } from 'node:timers/promises'
import { describe, isSuccess, objectOf, type Answer } from '../answer.ts'
import type { CheckContext } from '../context.ts'
import type { Account } from '../fixture.ts'
import { Fault, Untestable } from '../outcome.ts'
import { quotaReadings, signQuota, type QuotaReading } from './quota-message.ts'
import { setClock } from './quota-clock.ts'

/** The documented body of POST /quota. */
export interface QuotaBody {
  readonly address: string
  readonly timestamp: number
  readonly signature: string
}

export interface QuotaOptions {
  /** Absent: the target's now. */
  readonly timestamp?: number
  /** Absent: the controller with every permission. */
  readonly controller?: Account
  /** Absent: the one that the target takes. */
  readonly reading?: QuotaReading
}

/** Without the chain nobody knows whether the fixture is still true. @throws Untestable then */
export function requireVerifiedFixture(t: CheckContext, refusal: Answer): void {
  if (t.hasChain) return
  throw new Untestable(`refused, and without a chain it is not known whether rightly: ${describe(refusal)}`)
}

/** Whether the target told a quota. */
export function isServed(answer: Answer): boolean {
  const body = objectOf(answer)
  return isSuccess(answer) && body !== undefined && (body['quota'] ?? null) !== null
}

/** Builds and signs a body. */
export function signQuotaBody(t: CheckContext, options: QuotaOptions & { readonly reading: QuotaReading }): QuotaBody {
  const { profile, controllers } = t.fixture
  const timestamp = options.timestamp ?? t.clock.now()
  const message = { address: profile.address, timestamp }
  return { ...message, signature: signQuota(message, options.controller ?? controllers.full, options.reading) }
}

/** What the target takes for the signed message; undefined: nothing that this suite knows. */
function takenReading(t: CheckContext): Promise<QuotaReading | undefined> {
  return t.once('quota.reading', async (once) => {
    const ask = async (reading: QuotaReading, timestamp?: number): Promise<boolean> =>
      isServed(
        await once.relay.quota(signQuotaBody(once, { reading, ...(timestamp === undefined ? {} : { timestamp }) })),
      )
    await setClock(once, (timestamp) => ask('personal message', timestamp))
    for (const reading of quotaReadings) if (await ask(reading)) return reading
    return undefined
  })
}

/**
 * The reading of the signed message that the target takes, so that one clause judges it and the others do not suffer.
 * Sets the clock as well. The described one when the target takes none.
 */
export async function quotaReading(t: CheckContext): Promise<QuotaReading> {
  return (await takenReading(t)) ?? 'personal message'
}

/**
 * Asks with a valid body. A target may take a signed message only once: where it has served before, a refusal is asked
 * again in the next second.
 */
async function askSigned(t: CheckContext, options: QuotaOptions & { readonly reading: QuotaReading }): Promise<Answer> {
  const answer = await t.relay.quota(signQuotaBody(t, options))
  if (isServed(answer) || answer.failure || options.timestamp !== undefined) return answer
  if ((await takenReading(t)) !== options.reading) return answer
  const nowMs = Date.now() + t.clock.offsetSeconds * 1000
  await delay(1000 - (nowMs % 1000) + 20)
  return t.relay.quota(signQuotaBody(t, options))
}

/** POST /quota with a body that is valid but for what `options` say. */
export async function askQuota(t: CheckContext, options: QuotaOptions = {}): Promise<Answer> {
  return askSigned(t, { ...options, reading: options.reading ?? (await quotaReading(t)) })
}

/** The quota that the clause asks the target to tell. @throws Fault when it does not */
export async function expectQuota(
  t: CheckContext,
  options: QuotaOptions = {},
): Promise<Readonly<Record<string, unknown>>> {
  const answer = await askQuota(t, options)
  if (isServed(answer)) return objectOf(answer) ?? {}
  requireVerifiedFixture(t, answer)
  throw new Fault('a valid request was not served', {
    expected: 'a status of success and an object with quota',
    actual: describe(answer),
  })
}

/** A valid request, served; its body is the twin of what is to be refused. @throws Untestable when it is refused */
export async function quotaTwin(t: CheckContext): Promise<{ body: QuotaBody; reading: QuotaReading }> {
  const reading = await quotaReading(t)
  const answer = await askSigned(t, { reading })
  if (!isServed(answer)) throw new Untestable(`the accepted twin was refused: ${describe(answer)}`)
  return { body: signQuotaBody(t, { reading }), reading }
}

/** @throws Fault when the target told a quota; no answer at all is none, and is noted */
export function expectNoQuota(t: CheckContext, answer: Answer, fault: string): void {
  if (answer.failure) t.observe(`${fault}: ${answer.failure.message}`)
  if (isServed(answer)) {
    throw new Fault(`a quota was told for ${fault}`, { expected: 'an answer without quota', actual: describe(answer) })
  }
}
