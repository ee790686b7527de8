import { sql } from 'kysely'
import { keccak256 } from 'ethers'
import { ServiceError } from '../../core/errors.ts'
import { min } from '../../ethereum/bigint.ts'
import { anyOf } from '../database/tables.ts'
import type { Queries } from '../database/database.ts'
import type { Upstream } from '../node/upstream.ts'
import { publishedCodes } from './published-codes.ts'

/** How much gas all unregistered profiles may use together. The gas limits of their transactions are counted. */
export interface UnregisteredLimits {
  readonly gasPerHour: number
  readonly gasPerDay: number
  /** For those profiles whose key managers run the same known code. */
  readonly codeGasPerHour: number
  readonly codeGasPerDay: number
  /** For all profiles together whose key managers run code that is not known. */
  readonly unknownCodeGasPerHour: number
  readonly unknownCodeGasPerDay: number
}

const MOST = Number.MAX_SAFE_INTEGER

/** No limits, for development chains, where gas costs nothing. */
export const boundless: UnregisteredLimits = {
  gasPerHour: MOST,
  gasPerDay: MOST,
  codeGasPerHour: MOST,
  codeGasPerDay: MOST,
  unknownCodeGasPerHour: MOST,
  unknownCodeGasPerDay: MOST,
}

/** One budget, and how much gas was used of it in its current window. */
interface Budget {
  /** Its key in the ledger. */
  readonly scope: string
  readonly limit: bigint
  readonly windowSeconds: number
  /** Unix seconds. */
  readonly startsAt: number
  readonly used: bigint
}

/** By scope, the gas that was used since the window began. */
export type BudgetUse = ReadonlyMap<string, { readonly startsAt: number; readonly used: bigint }>

/** Stands for the hash of a key manager's code that is not known. */
export const UNKNOWN_CODE = 'unknown'

const HOUR_SECONDS = 3_600
const DAY_SECONDS = 86_400

/**
 * The budgets that an unregistered profile draws on, as they stand now. A window begins with each hour and with each day, UTC.
 *
 * @param code hash of the code that its key manager runs, or `UNKNOWN_CODE`
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
    const startsAt = windowStart(windowSeconds, nowSeconds)
    const isCurrent =
      known !== undefined && known.startsAt >= startsAt && !isFarAhead(known.startsAt, scope, nowSeconds)
    return {
      scope,
      windowSeconds,
      limit: BigInt(limit),
      startsAt: isCurrent ? known.startsAt : startsAt,
      used: isCurrent ? known.used : 0n,
    }
  })
}

const windowStart = (windowSeconds: number, nowSeconds: number) => nowSeconds - (nowSeconds % windowSeconds)

/** The length of a budget's window, in seconds. */
const windowOf = (scope: string) => Number(scope.slice(scope.lastIndexOf('/') + 1))

/**
 * Whether a budget's window begins later than the next one. The clock of another process may be ahead a little, and has begun
 * the next window then. A window after that was begun by a clock that was wrong, and would not end for as long.
 */
function isFarAhead(startsAt: number, scope: string, nowSeconds: number): boolean {
  const windowSeconds = windowOf(scope)
  return startsAt > windowStart(windowSeconds, nowSeconds) + windowSeconds
}

/** The gas that is left in the budget with the least. */
export function leftOf(budgets: readonly Budget[]): bigint {
  return budgets.map(({ limit, used }) => limit - used).reduce((least, left) => min(least, left))
}

/** The error for a call that needs more gas than is left. */
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

/**
 * Locks budgets until the database transaction ends, always in the order of their scopes. A window that a wrong clock began in
 * the future begins now instead, with what is used of it.
 */
export async function lockBudgets(
  db: Queries,
  scopes: readonly string[],
  nowSeconds: number,
): Promise<Map<string, BudgetRow>> {
  if (scopes.length === 0) return new Map()
  const rows = await db
    .selectFrom('budgets')
    .selectAll()
    .where('scope', '=', anyOf([...new Set(scopes)]))
    .orderBy(sql`scope`)
    .forUpdate()
    .execute()
  const budgets = new Map(rows.map((row) => [row.scope, { startsAt: Number(row.starts_at), used: BigInt(row.used) }]))
  for (const [scope, { startsAt, used }] of budgets) {
    if (!isFarAhead(startsAt, scope, nowSeconds)) continue
    const begun = windowStart(windowOf(scope), nowSeconds)
    await db.updateTable('budgets').set({ starts_at: begun }).where('scope', '=', scope).execute()
    budgets.set(scope, { startsAt: begun, used })
  }
  return budgets
}

interface BudgetRow {
  readonly startsAt: number
  readonly used: bigint
}

/** Tells what code key managers run. */
export interface KeyManagerCodes {
  /**
   * @returns the keccak-256 of the code, or `UNKNOWN_CODE`; for a minimal proxy (ERC-1167), that of the contract it calls
   * @throws ServiceError UPSTREAM_UNAVAILABLE
   */
  of(keyManager: string): Promise<string>
}

const MINIMAL_PROXY = /^0x363d3d373d3d3d363d73([0-9a-f]{40})5af43d82803e903d91602b57fd5bf3$/
/** A flood of key managers must not fill the memory. */
const MAX_REMEMBERED = 10_000

/** @param further hashes of code that the operator knows */
export function createKeyManagerCodes(upstream: Upstream, further: readonly string[] = []): KeyManagerCodes {
  const published = Object.values(publishedCodes).flatMap((codes) => Object.values(codes))
  const known = new Set([...published, ...further.map((hash) => hash.toLowerCase())])
  const remembered = new Map<string, Promise<string>>()

  const codeAt = (address: string) => upstream.request<string>('eth_getCode', [address, 'latest'])

  async function find(keyManager: string): Promise<string> {
    const code = await codeAt(keyManager)
    const [, implementation] = MINIMAL_PROXY.exec(code) ?? []
    const hash = keccak256(implementation === undefined ? code : await codeAt(`0x${implementation}`))
    return known.has(hash) ? hash : UNKNOWN_CODE
  }

  return {
    of: (keyManager) => {
      let found = remembered.get(keyManager)
      if (!found) {
        found = find(keyManager)
        if (remembered.size >= MAX_REMEMBERED) remembered.clear()
        remembered.set(keyManager, found)
        found.catch(() => remembered.delete(keyManager))
      }
      return found
    },
  }
}
