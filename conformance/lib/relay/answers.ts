import type { ClauseId } from '../../../specs/index.ts'
import { type Answer, describeAnswer, isSuccess, objectOf, wordsOf } from '../answer.ts'
import { compareDecimals, type Decimal, numberSources, parseDecimal, showDecimal, toNumber } from '../lossless-json.ts'
import { isBlockPage, longestWords, type Patience, retryAfterMs, saysLimit } from '../limits.ts'
import { Fault, Untestable } from '../outcome.ts'

/** What some languages write where there is no hash: an empty string or zeros. */
const noHash = /^(0x)?0*$/i

/** The value of `transactionHash`, with any status; undefined when it is absent, empty or zero. */
export function hashIn(answer: Answer): unknown {
  const hash = objectOf(answer)?.['transactionHash']
  if (typeof hash === 'string' && noHash.test(hash)) return undefined
  return hash === null || hash === false ? undefined : hash
}

/** Whether `transactionHash` holds 32 bytes in any type and spelling. */
export function tellsHash(answer: Answer): boolean {
  const text = JSON.stringify(hashIn(answer)) ?? ''
  return isSuccess(answer) && /[0-9a-f]{64}/i.test(text)
}

/** Whether the value is the hash of a transaction: 32 bytes in hex, with or without 0x. */
export function isHash(value: unknown): value is string {
  return typeof value === 'string' && /^(0x)?[0-9a-f]{64}$/i.test(value)
}

/** A hash as nodes write it. */
export function normalHash(hash: string): string {
  return `0x${hash.toLowerCase().replace(/^0x/, '')}`
}

/** Whether the target accepted the call: a 2xx status and a hash. */
export function isAccepted(answer: Answer): boolean {
  return isSuccess(answer) && isHash(hashIn(answer))
}

/** Whether the answer names a scheme of authentication. */
export function asksForCredential({ status, headers }: Answer): boolean {
  return status === 407 || headers['www-authenticate'] !== undefined
}

/** Whether the answer says that the request is not authenticated, or not enough. */
export function isUnauthorised(answer: Answer): boolean {
  return answer.status === 401 || answer.status === 403 || asksForCredential(answer)
}

/**
 * Whether the answer to a valid request asks for a credential that the documents do not have: it names a scheme, or
 * an empty request gets the same answer.
 *
 * @param askEmpty sends an empty object to the same path
 */
export async function demandsCredential(refused: Answer, askEmpty: () => Promise<Answer>): Promise<boolean> {
  if (!isUnauthorised(refused)) return false
  if (asksForCredential(refused)) return true
  const empty = await askEmpty()
  return empty.status === refused.status && wordsOf(empty) === wordsOf(refused)
}

const unregisteredWords = /regist|\bunknown profile|profile (?:is )?(?:unknown|not (?:found|known))/i
/** What else may have to be registered: whoever calls, not the profile. */
const callerWords = /\bapi\b|\bkey\b(?!.?manager)|token|credential|client/i

/**
 * Whether a refusal says that the target does not know the profile. The document speaks of "a registered profile", and shows
 * neither how one is registered nor what the others get.
 */
export function saysUnregistered(refusal: Answer): boolean {
  const { failure, text } = refusal
  if (failure || asksForCredential(refusal) || text.length > longestWords) return false
  return unregisteredWords.test(text) && !callerWords.test(text)
}

/** How often a request is sent to a target that says that it is busy. */
const mostAttempts = 4
const firstWaitMs = 500
/** The longest wait before one attempt, also where the target asks for more. */
const longestWaitMs = 15_000

/** Statuses that mean "not now": conflict, locked, too early, too many requests, unavailable. */
const laterStatuses = [409, 423, 425, 429, 503]
// The documents show neither limits nor their answers. So words may excuse a refusal, and never accuse.
const laterWords =
  /\brate\b|limit|throttl|too many|too fast|slow down|flood|wait\b|overload|busy|pending|in progress|try again|retry|later/i
/** What a target says that has shut the run out for a while: the run sends it forged signatures. */
const lockWords = /too many|attempts|\b(?:locked|lockout|blocked|banned|suspended)\b/i

/** Whether a refusal says in words that it is about how often, or how often in vain, the run has asked. */
export function tellsOfLimit(refusal: Answer): boolean {
  return !refusal.failure && (saysLimit(refusal) || isBlockPage(refusal) || lockWords.test(refusal.text))
}

/** What is thrown when a target that has served others refuses a valid request with such words, and waiting did not help. */
export function limitError(refusal: Answer): Untestable {
  return new Untestable(`the target says that it limits or has shut out the run: ${describeAnswer(refusal)}`)
}

/**
 * How long to wait before a refused request is sent again, when the refusal may come from a limit of the target. Where it
 * says so in words, there are as many attempts as the run has time for.
 *
 * @param attempt how often the request has been sent
 * @param patience of the run, for a valid request
 * @returns ms; undefined when nothing excuses the refusal, or when the request was sent often enough
 */
export function excuseMs(refusal: Answer, attempt: number, patience?: Patience): number | undefined {
  const { failure, status = 0, text, headers } = refusal
  if (failure) return undefined
  const isLimit = tellsOfLimit(refusal)
  const isBusy = laterStatuses.includes(status)
  const asksLater = status !== 401 && (headers['retry-after'] !== undefined || laterWords.test(text))
  if (!isLimit && !isBusy && !asksLater) return undefined
  const waitMs = Math.max(firstWaitMs * 2 ** (attempt - 1), Math.min(retryAfterMs(refusal) ?? 0, longestWaitMs))
  if (attempt < mostAttempts) return waitMs
  return isLimit && patience?.mayWait(waitMs) ? waitMs : undefined
}

/**
 * Waits before a valid request is sent again to a target that refused one, though it has served others. Its node may be
 * some seconds behind ours, or the target limits or locks out its callers and does not say so. The documents show neither.
 */
const untoldWaitsMs = [1000, 2000, 4000, 8000, 8000]
/** How many of them the run waits, after so many refusals for which waiting was in vain. */
const mostUntoldWaits = [untoldWaitsMs.length, 2]

/** A request that comes again within this time comes at once. */
const atOnceMs = 100
/** A target that takes this many requests at once when they come again refuses valid ones now and then. */
const nowAndThen = 2

/** What the run knows of the reasons for refusals that the target does not tell. */
export interface UntoldReason {
  /** How many refusals stayed, however long the run waited. */
  inVain: number
  /** How many requests were refused, and taken when they came again at once. */
  atOnce: number
}

export function noReason(): UntoldReason {
  return { inVain: 0, atOnce: 0 }
}

/**
 * Records that a request was refused, and taken when it came again. No limit and no lock passes at once, but for one that
 * happens to.
 *
 * @param afterMs the time between the refusal and the second request
 * @returns whether the target refuses valid requests now and then
 */
export function refusesNowAndThen(reason: UntoldReason, afterMs: number): boolean {
  if (afterMs > atOnceMs) return false
  reason.atOnce += 1
  return reason.atOnce >= nowAndThen
}

/**
 * How long to wait for a reason that the target does not tell.
 *
 * @param waits how often the run has waited for this request
 * @returns ms; undefined when the run has waited long enough, which counts as in vain
 */
export function untoldWaitMs(reason: UntoldReason, waits: number): number | undefined {
  if (waits < (mostUntoldWaits[reason.inVain] ?? 0)) return untoldWaitsMs[waits]
  if (waits > 0) reason.inVain += 1
  return undefined
}

/** A time in seconds beyond this lies after the year 5000. A time of today in milliseconds is beyond it. */
const beyondSeconds = 100_000_000_000

function hintOf(value: unknown): string | undefined {
  if (typeof value === 'string' && value.trim() !== '' && Number.isFinite(Number(value))) {
    return 'a string that holds a number'
  }
  if (typeof value === 'string' && !Number.isNaN(Date.parse(value))) return 'a string that holds a date'
  return undefined
}

/** A wrong value for a message, with a guess at what it is. */
export function wrongValue(value: unknown): string {
  const text = JSON.stringify(value) ?? 'absent'
  const hint = hintOf(value)
  return hint === undefined ? text : `${text} — ${hint}`
}

/** A wrong time in seconds for a message, with a guess at what it is. */
export function wrongSeconds(value: unknown): string {
  const isMilliseconds = typeof value === 'number' && Math.abs(value) >= beyondSeconds
  return isMilliseconds ? `${value} — this looks like milliseconds` : wrongValue(value)
}

/** A wrong hash for a message, with a guess at what it is. */
export function wrongHash(value: unknown): string {
  const text = JSON.stringify(value)
  if (typeof value === 'number') return `${text} — a number, not a string`
  if (typeof value !== 'string') return text ?? 'absent'
  if (/^\d{60,}$/.test(value)) return `${text} — this looks like decimal, not hex`
  const [, digits] = /^(?:0x)?([0-9a-f]*)$/i.exec(value) ?? []
  if (digits === undefined) return `${text} — there are letters in it that are no hex digits`
  return `${text} — ${digits.length / 2} bytes, where a hash has 32`
}

const quotaUnits = ['gas', 'lyx', 'transactionCount']

/** Whether the answer tells a quota: a 2xx status and an object with `quota`. */
export function tellsQuota(answer: Answer): boolean {
  const body = objectOf(answer)
  return isSuccess(answer) && body !== undefined && (body['quota'] ?? null) !== null
}

/** Whether the answer tells an amount of any type. Absent amounts and zero do not count. */
export function tellsAmount(answer: Answer): boolean {
  return tellsQuota(answer) && /[1-9]/.test(JSON.stringify(objectOf(answer)?.['quota']) ?? '')
}

/** The quota that the target told. */
export interface ToldQuota {
  readonly answer: Answer
  /** With all digits; undefined when it is no number. */
  readonly quota: Decimal | undefined
  readonly totalQuota: Decimal | undefined
  readonly unit: unknown
  readonly resetDate: unknown
}

/** Reads the members of an answer that tells a quota. Amounts keep all of their digits. */
export function readTold(answer: Answer): ToldQuota {
  const sources = numberSources(answer.text)
  const amount = (name: string): Decimal | undefined => parseDecimal(sources.get(name) ?? '')
  const { unit, resetDate } = objectOf(answer) ?? {}
  return { answer, quota: amount('quota'), totalQuota: amount('totalQuota'), unit, resetDate }
}

/** The relative error that a sum of doubles may have. */
const doubleError = 1e-12

/** Whether a is more than b. For fractions, by more than the error of a double. */
export function isMore(a: Decimal, b: Decimal): boolean {
  if (compareDecimals(a, b) <= 0) return false
  const areWhole = a.scale <= 0 && b.scale <= 0
  return areWhole || toNumber(a) > toNumber(b) * (1 + doubleError)
}

type Judge = (body: Readonly<Record<string, unknown>>, answer: Answer) => Fault | undefined

function fault(of: ClauseId, answer: Answer, name: string, what: string, actual: string): Fault {
  return new Fault(`${name} is not ${what}`, { expected: what, actual, answer, of })
}

const judges: readonly Judge[] = [
  ({ quota }, answer) =>
    typeof quota === 'number'
      ? undefined
      : fault('relay.quota.quota-number', answer, 'quota', 'a number', wrongValue(quota)),
  ({ unit }, answer) =>
    typeof unit === 'string' && quotaUnits.includes(unit)
      ? undefined
      : fault('relay.quota.unit', answer, 'unit', `one of ${quotaUnits.join(', ')}`, wrongValue(unit)),
  ({ totalQuota }, answer) =>
    totalQuota === undefined || typeof totalQuota === 'number'
      ? undefined
      : fault('relay.quota.total-quota', answer, 'totalQuota', 'a number', wrongValue(totalQuota)),
  ({ resetDate }, answer) =>
    resetDate === undefined || Number.isInteger(resetDate)
      ? undefined
      : fault('relay.quota.reset-date', answer, 'resetDate', 'an integer', wrongSeconds(resetDate)),
  (_body, answer) => {
    const { quota, totalQuota } = readTold(answer)
    if (!quota || !totalQuota || !isMore(quota, totalQuota)) return undefined
    return new Fault('totalQuota is below quota', {
      expected: `at least ${showDecimal(quota)}`,
      actual: showDecimal(totalQuota),
      answer,
      of: 'relay.quota.total-is-available-plus-used',
    })
  },
]

/** The faults in the members of an answer that tells a quota, each with the clause that it contradicts. */
export function faultsOf(answer: Answer): Fault[] {
  const body = objectOf(answer) ?? {}
  return judges.flatMap((judge) => judge(body, answer) ?? [])
}
