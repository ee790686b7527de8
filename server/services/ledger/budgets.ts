import { sql } from 'kysely'
import { ServiceError } from '../../core/errors.ts'
import { anyOf } from '../database/tables.ts'
import type { Queries } from '../database/database.ts'
import { keccak256 } from 'ethers'
import type { Upstream } from '../node/upstream.ts'

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
interface Budget {
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

/** What key managers run. */
export interface KeyManagerCodes {
  /**
   * The hash of the code, where it is known, or `UNKNOWN_CODE`; of a minimal proxy (ERC-1167), that of what it stands for.
   *
   * @throws ServiceError UPSTREAM_UNAVAILABLE
   */
  of(keyManager: string): Promise<string>
}

/** keccak-256 of the published LSP6 contracts' code: as it is deployed, and as proxies stand for it. */
export const publishedCodes: readonly string[] = [
  // @lukso/lsp6-contracts 0.15.5
  '0x1b81a273973bbcb1318754fbf1f57d4e647ef33b6d7b35f94815d3f252343756',
  '0x11c77c789d2595bf8dc7e033357fe9a69fbb9cecc4561c8e914ecd66ed89c0d2',
  // @lukso/lsp-smart-contracts 0.10.3
  '0xf9ac7dc9ba9fc7e07f9583384ffda87e2a2d1a458438e7fc18c32b7ebaae9689',
  '0x0d8d31709889effe2edb3d30c233926e2a4049f04e3c3556510cbeefbd070407',
  // @lukso/lsp-smart-contracts 0.8.1
  '0xc4dfdee75807fd4920839c5f0169b4e82d34b33254ce6af56fbdc752df89d567',
  '0x7f8314bd70065acf05dd3ba6752bb6a72e1514f61cfb930dd2b8dd1ec90bca21',
]

const MINIMAL_PROXY = /^0x363d3d373d3d3d363d73([0-9a-f]{40})5af43d82803e903d91602b57fd5bf3$/
/** A flood of key managers must not fill the memory. */
const MAX_REMEMBERED = 10_000

/** @param further hashes of code that the operator knows */
export function createKeyManagerCodes(upstream: Upstream, further: readonly string[] = []): KeyManagerCodes {
  const known = new Set([...publishedCodes, ...further.map((hash) => hash.toLowerCase())])
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
