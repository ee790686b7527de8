import type { ClauseId } from '../../../specs/index.ts'
import { type Answer, isSuccess, objectOf } from '../answer.ts'
import { compareDecimals, type Decimal, numberSources, parseDecimal, showDecimal, toNumber } from '../lossless-json.ts'
import { Fault } from '../outcome.ts'
import { wrongSeconds, wrongValue } from './hints.ts'

export const quotaUnits = ['gas', 'lyx', 'transactionCount']

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
