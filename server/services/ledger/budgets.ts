import { sql } from 'kysely'
import { ServiceError } from '../../core/errors.ts'
import { anyOf } from '../database/tables.ts'
import type { Queries } from '../database/database.ts'

/** What profiles may use together that nobody has registered: gas limits of the transactions sent for them. */
export interface UnregisteredLimits {
  readonly gasPerHour: number
  readonly gasPerDay: number
  /** Of these, profiles whose key managers run the same code. */
  readonly codeGasPerHour: number
  readonly codeGasPerDay: number
  /** Of these, all whose key managers run code that is not known. */
  readonly unknownCodeGasPerHour: number
  readonly unknownCodeGasPerDay: number
}

const MOST = Number.MAX_SAFE_INTEGER

/** For development chains, where gas costs nothing. */
export const boundless: UnregisteredLimits = {
  gasPerHour: MOST,
  gasPerDay: MOST,
  codeGasPerHour: MOST,
  codeGasPerDay: MOST,
  unknownCodeGasPerHour: MOST,
  unknownCodeGasPerDay: MOST,
}

/** One budget: what was used of it in the window that began last. */
export interface Budget {
  /** Its key in the ledger. */
  readonly scope: string
  readonly limit: bigint
  readonly windowSeconds: number
  /** Unix seconds. */
  readonly startsAt: number
  readonly used: bigint
}

/** By scope. */
export type BudgetUse = ReadonlyMap<string, { readonly startsAt: number; readonly used: bigint }>

/** Key managers run code that is known, by its hash, or this. */
export const UNKNOWN_CODE = 'unknown'

const HOUR_SECONDS = 3_600
const DAY_SECONDS = 86_400

/**
 * The budgets that an unregistered profile draws on, as they stand now: a window begins with each hour and day, UTC.
 *
 * @param code what its key manager runs: a hash, or `UNKNOWN_CODE`
 */
export function budgetsFor(code: string, limits: UnregisteredLimits, use: BudgetUse, nowSeconds: number): Budget[] {
  const isKnown = code !== UNKNOWN_CODE
  const wanted = [
    ['all', HOUR_SECONDS, limits.gasPerHour],
    ['all', DAY_SECONDS, limits.gasPerDay],
    [code, HOUR_SECONDS, isKnown ? limits.codeGasPerHour : limits.unknownCodeGasPerHour],
    [code, DAY_SECONDS, isKnown ? limits.codeGasPerDay : limits.unknownCodeGasPerDay],
  ] as const
  return wanted.map(([name, windowSeconds, limit]) => {
    const scope = `${name}/${windowSeconds}`
    const known = use.get(scope)
    const startsAt = nowSeconds - (nowSeconds % windowSeconds)
    // Another process may be ahead by its clock.
    const isCurrent = known !== undefined && known.startsAt >= startsAt
    return {
      scope,
      windowSeconds,
      limit: BigInt(limit),
      startsAt: isCurrent ? known.startsAt : startsAt,
      used: isCurrent ? known.used : 0n,
    }
  })
}

/** What is left of the budget that has the least. */
export function leftOf(budgets: readonly Budget[]): bigint {
  return budgets.map(({ limit, used }) => limit - used).reduce((least, left) => (left < least ? left : least))
}

/** Why a call is refused that needs more than is left. */
export function budgetExhausted(budgets: readonly Budget[], gas: bigint, nowSeconds: number): ServiceError {
  const short = budgets.filter(({ limit, used }) => used + gas > limit)
  const retryAfterSeconds = Math.max(
    1,
    ...short.map(({ startsAt, windowSeconds }) => startsAt + windowSeconds - nowSeconds),
  )
  const reason = 'what this service spends for profiles that are not registered is used up for now'
  return new ServiceError('RATE_LIMITED', reason, {
    details: { budgets: short.map(({ scope }) => scope), neededGas: String(gas) },
    retryAfterSeconds,
  })
}

/** Locks what is stored of budgets for the length of the transaction, always in the same order. */
export async function lockBudgets(db: Queries, scopes: readonly string[]): Promise<Map<string, BudgetRow>> {
  if (scopes.length === 0) return new Map()
  const rows = await db
    .selectFrom('budgets')
    .selectAll()
    .where('scope', '=', anyOf([...new Set(scopes)]))
    .orderBy(sql`scope`)
    .forUpdate()
    .execute()
  return new Map(rows.map((row) => [row.scope, { startsAt: Number(row.starts_at), used: BigInt(row.used) }]))
}

interface BudgetRow {
  readonly startsAt: number
  readonly used: bigint
}
