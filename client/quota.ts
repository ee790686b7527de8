import type { QuotaResponse } from '../specs/index.ts'
import { objectOf, serverTimeMs, type Answer, post, type Fetch, type Patience } from './post.ts'
import type { Endpoints } from './endpoint.ts'
import type { Signer } from './controller.ts'
import { quotaMessage } from './encoding.ts'
import type { Profile } from './chain.ts'
import { isRelayError, messageOf, RelayError } from './relay-error.ts'

/** What a profile may still spend. Amounts are exact: in gas, in wei when the unit is lyx, or in transactions. */
export interface Quota {
  readonly quota: bigint
  readonly unit: QuotaResponse['unit']
  /** The amount for one period, used and available together. Absent under pay as you go. */
  readonly totalQuota?: bigint
  /** When the amount is available anew. Absent under pay as you go. */
  readonly resetDate?: Date
}

export interface QuotaContext {
  readonly relayAt: Endpoints
  readonly profile: Profile
  readonly signer: Signer
  readonly fetch: Fetch
  readonly patience: Patience
}

const LYX_DECIMALS = 18
/** When the clocks differ by less, the clock is not the reason why the relay refuses the timestamp. */
const CLOCK_TOLERANCE_MS = 2_000

/**
 * Makes one `POST /quota`. Clause relay.quota.post. Each attempt is signed anew, with the present time. When the relay
 * refuses the time of this machine, the request is repeated once with the relay's time.
 */
export function createQuota({ relayAt, profile, signer, fetch, patience }: QuotaContext) {
  /** Milliseconds by which the relay's clock is ahead of this one. */
  let aheadMs = 0
  const body = async () => {
    const timestamp = Math.floor((Date.now() + aheadMs) / 1000)
    const signature = await signer.signPersonal(quotaMessage(profile.address, timestamp))
    return JSON.stringify({ address: profile.address, timestamp, signature })
  }
  return async ({ signal }: { readonly signal?: AbortSignal } = {}): Promise<Quota> => {
    for (let isFirst = true; ; isFirst = false) {
      const { answer, error } = await post(relayAt('/quota'), { ...patience, fetch, signal, body })
      if (answer && !error) return quotaOf(answer)
      const relayTimeMs = answer && isFirst && answer.status < 500 ? timeOf(answer, error) : undefined
      if (relayTimeMs === undefined || Math.abs(relayTimeMs - (Date.now() + aheadMs)) < CLOCK_TOLERANCE_MS) {
        throw isRelayError(error) ? error : noAnswer(error)
      }
      aheadMs = relayTimeMs - Date.now()
    }
  }
}

/** The relay's time in Unix milliseconds, from the details of the refusal or from the header `Date`. */
function timeOf({ headers }: Answer, error: unknown): number | undefined {
  if (!isRelayError(error, 'STALE_TIMESTAMP')) return isRelayError(error, 'UNKNOWN') ? serverTimeMs(headers) : undefined
  const { serverTime } = error.details
  return serverTime === undefined ? serverTimeMs(headers) : serverTime * 1000
}

function noAnswer(cause: unknown): RelayError {
  const text = messageOf(cause)
  return new RelayError('UNKNOWN', `the relay does not answer: ${text}`, { details: { text }, cause })
}

/** @throws RelayError UNKNOWN the answer has not the document's form */
function quotaOf({ status, text }: Answer): Quota {
  // Numbers are read as text, because JSON.parse would round them.
  const spelt = text.replace(/"(?:[^"\\]|\\.)*"|-?\d[\d.eE+-]*/g, (token) =>
    token.startsWith('"') ? token : `"${token}"`,
  )
  const { quota, unit, totalQuota, resetDate } = (objectOf(text) && objectOf(spelt)) ?? {}
  const unknown = () =>
    new RelayError('UNKNOWN', `the relay's answer is no quota: ${text.slice(0, 300)}`, { status, details: { text } })
  if (!isUnit(unit)) throw unknown()
  const amount = (spelling: unknown) => {
    const value = amountOf(spelling, unit === 'lyx' ? LYX_DECIMALS : 0)
    if (value === undefined) throw unknown()
    return value
  }
  return {
    quota: amount(quota),
    unit,
    ...(totalQuota !== undefined && totalQuota !== null && { totalQuota: amount(totalQuota) }),
    ...(resetDate !== undefined && resetDate !== null && { resetDate: new Date(Number(resetDate) * 1000) }),
  }
}

const isUnit = (unit: unknown): unit is Quota['unit'] => unit === 'gas' || unit === 'lyx' || unit === 'transactionCount'

/**
 * Reads a decimal literal as an integer number of its smallest part, rounded down. @returns undefined when it is none
 */
function amountOf(spelling: unknown, decimals: number): bigint | undefined {
  const [, sign, whole = '', fraction = '', exponent = '0'] =
    /^(-?)(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d{1,3}))?$/.exec(String(spelling)) ?? []
  if (whole === '') return undefined
  const shift = Number(exponent) + decimals - fraction.length
  const digits = BigInt(whole + fraction)
  const amount = shift >= 0 ? digits * 10n ** BigInt(shift) : digits / 10n ** BigInt(-shift)
  return sign === '-' ? -amount : amount
}
