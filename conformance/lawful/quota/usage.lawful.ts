import { clauses as allClauses, type ClauseId } from '../../../specs/index.ts'
import { NumberLiteral } from '../../lib/lossless-json.ts'
import { defineLawful, respond, type Lawful } from '../../altered/define.ts'
import { type Books, keepsBooks } from '../../altered/lib/quota.ts'

const used = 'relay 2: totalQuota equals available plus used quota; when and how a use is booked is not shown'
/** The clauses whose checks need an executed call. */
const executions = (Object.keys(allClauses) as ClauseId[]).filter(
  (id) =>
    allClauses[id].level === 'required' &&
    (id.startsWith('relay.execute.') ||
      id === 'relay.quota.total-is-available-plus-used' ||
      id === 'relay.auth.no-other-credential'),
)
const clauses: Lawful['clauses'] = [
  'relay.quota.total-is-available-plus-used',
  'relay.quota.total-quota',
  'relay.quota.quota-number',
]

const gas: Pick<Books, 'total' | 'unit' | 'cost'> = {
  total: 20_000_000n,
  unit: 'gas',
  cost: ({ gasUsed }) => gasUsed,
}

function booking(id: string, books: Partial<Books>, more: Partial<Lawful> = {}): Lawful {
  return defineLawful({ id: `books-${id}`, clauses, allowedBy: used, ...keepsBooks({ ...gas, ...books }), ...more })
}

/** An amount of wei in coins, with all of its digits. */
function coins(wei: bigint): NumberLiteral {
  const text = String(wei).padStart(19, '0')
  return new NumberLiteral(`${text.slice(0, -18)}.${text.slice(-18)}`)
}

/** A quota whose uses are forgotten at the end of each period. */
function resetting(id: string, periodSeconds: number, more: Partial<Lawful> = {}): Lawful {
  return defineLawful({
    id,
    clauses: [...clauses, 'relay.quota.reset-date-future'],
    allowedBy: 'relay 2: resetDate is the date at which the quota resets; how often is not shown',
    async quota(request, forward, { memory }) {
      const response = await forward(request)
      if (response.status !== 200) return response
      const { quota, totalQuota, unit } = response.json as { quota: number; totalQuota: number; unit: string }
      const nowSeconds = Math.floor(Date.now() / 1000)
      const resetDate = (Math.floor(nowSeconds / periodSeconds) + 1) * periodSeconds
      const usedInAll = totalQuota - quota
      // What was used before the last reset no longer counts.
      const kept = memory.get('period') as { resetDate: number; usedBefore: number; usedInAll: number } | undefined
      const atReset = kept?.resetDate === resetDate ? kept.usedBefore : (kept?.usedInAll ?? usedInAll)
      // What was reserved at the reset and is given back was never used.
      const usedBefore = Math.min(atReset, usedInAll)
      memory.set('period', { resetDate, usedBefore, usedInAll })
      return respond(200, { quota: totalQuota - (usedInAll - usedBefore), unit, totalQuota, resetDate })
    },
    ...more,
  })
}

interface Amounts {
  readonly quota: number
  readonly totalQuota: number
}

/** Tells other amounts than the books hold. */
function telling(
  id: string,
  allowedBy: string,
  alter: (told: Amounts) => Partial<Amounts>,
  more: Partial<Lawful> = {},
): Lawful {
  return defineLawful({
    id,
    clauses,
    allowedBy,
    async quota(request, forward) {
      const response = await forward(request)
      const told = response.json as Amounts
      return response.status === 200 ? respond(200, { ...told, ...alter(told) }) : response
    },
    ...more,
  })
}

/** Keeps an answer for a time, and tells it again. */
function showsOld(name: string, forMs: number): Lawful {
  return defineLawful({
    id: `shows-a-quota-of-${name}`,
    clauses,
    allowedBy: used,
    async quota(request, forward, { memory }) {
      const response = await forward(request)
      if (response.status !== 200) return response
      const kept = memory.get('kept') as { atMs: number; json: unknown } | undefined
      if (kept && Date.now() - kept.atMs < forMs) return respond(200, kept.json)
      memory.set('kept', { atMs: Date.now(), json: response.json })
      return response
    },
  })
}

const fee: Books['cost'] = ({ gasUsed, priceWei }) => gasUsed * priceWei

export default [
  booking('at-once', {}),
  booking('a-second-after-the-receipt', { bookedAfterMs: 1000 }),
  booking('three-seconds-after-the-receipt', { bookedAfterMs: 3000 }),
  booking('ten-seconds-after-the-receipt', { bookedAfterMs: 10_000 }),
  booking('after-the-next-block', { bookedAfterBlocks: 1n }, { environment: { chain: { blockTimeSeconds: 1 } } }),
  booking('three-blocks-later', { bookedAfterBlocks: 3n }, { environment: { chain: { blockTimeSeconds: 1 } } }),
  booking('a-reservation-and-gives-back', { reserve: 5_000_000n, bookedAfterMs: 1500 }),
  booking(
    'a-reservation-and-gives-back-after-a-block',
    { reserve: 5_000_000n, bookedAfterBlocks: 1n },
    { environment: { chain: { blockTimeSeconds: 1 } } },
  ),
  booking('the-gas-limit', { cost: () => 500_000n }),
  booking('more-than-was-used', { cost: ({ gasUsed }) => gasUsed * 3n }),
  booking('by-thousands', { cost: ({ gasUsed }) => ((gasUsed + 999n) / 1000n) * 1000n }),
  // Debatable: less than the chain counts, and more than half of it.
  booking('six-tenths-of-the-gas', { cost: ({ gasUsed }) => (gasUsed * 6n) / 10n }),
  // Debatable: no sentence says by when a use is booked; this is well within a minute.
  booking('25-seconds-after-the-receipt', { bookedAfterMs: 25_000 }),
  booking('calls', { unit: 'transactionCount', total: 500n, cost: () => 1n }),
  booking('two-for-a-call', { unit: 'transactionCount', total: 500n, cost: () => 2n }),
  booking('calls-when-they-are-taken', { unit: 'transactionCount', total: 500n, cost: () => 1n, reserve: 1n }),
  booking('coins', { unit: 'lyx', total: 5n * 10n ** 18n, cost: fee, show: coins }),
  booking(
    'coins-with-two-decimals',
    {
      unit: 'lyx',
      total: 5n * 10n ** 18n,
      cost: fee,
      show: (wei) => new NumberLiteral((Number(wei) / 1e18).toFixed(2)),
    },
    { untestable: ['relay.quota.total-is-available-plus-used'] },
  ),
  booking('coins-beyond-a-double', { unit: 'lyx', total: 10n ** 42n + 7n, cost: fee, show: coins }),
  booking('coins-in-exponents', {
    unit: 'lyx',
    total: 10n ** 24n,
    cost: fee,
    show: (wei) => new NumberLiteral(`${wei}e-18`),
  }),
  booking('gas-beyond-a-double', { total: 10n ** 24n + 7n }),
  booking('gas-in-exponents', { total: 10n ** 24n, show: (amount) => new NumberLiteral(`${amount}0E-1`) }),
  booking('gas-of-a-uint256', { total: 2n ** 256n - 1n }),
  booking('few-left', { total: 6_000_000n }),
  booking('gas-on-credit', { total: 0n }),
  booking('coins-below-one', { unit: 'lyx', total: 10n ** 17n, cost: fee, show: coins }),
  booking('a-reservation-and-gives-back-before-it-books', {
    cost: ({ gasUsed }) => gasUsed,
    reserve: 1_000_000n,
    bookedAfterMs: 4000,
    releasedAfterMs: 1000,
  }),
  booking('without-a-total', { alter: ({ quota, unit }) => ({ quota, unit }) }),
  booking('what-was-used-as-you-go', {
    total: 0n,
    show: (amount) => amount + 10n ** 12n,
    alter: ({ quota, unit }) => ({ quota, unit }),
  }),

  // Debatable: what a service counts as used is its own; once the free calls are used up, quota falls.
  defineLawful({
    id: 'gives-three-calls-free',
    clauses,
    allowedBy: used,
    ...keepsBooks({ ...gas, free: 3 }),
  }),

  resetting('resets-every-twenty-seconds', 20),
  resetting('resets-every-three-seconds', 3, { environment: { chain: { blockTimeSeconds: 3 } } }),
  defineLawful({
    id: 'shares-the-allowance-with-others',
    clauses,
    allowedBy: 'relay 2: totalQuota is the total limit; that nobody else uses of it is not shown',
    async quota(request, forward) {
      const response = await forward(request)
      if (response.status !== 200) return response
      const { quota, ...others } = response.json as { quota: number }
      // Another user spends ten gas each millisecond.
      return respond(200, { ...others, quota: quota - ((Date.now() * 10) % 1_000_000_000) })
    },
  }),

  telling(
    'accrues-quota-with-time',
    'relay 2: totalQuota is "available plus used quota since the last reset"; that what is available does not grow is not shown',
    ({ quota, totalQuota }) => {
      const accrued = Math.floor(Date.now() / 100) % 1_000_000_000
      return { quota: quota + accrued, totalQuota: totalQuota + accrued }
    },
  ),
  telling(
    'counts-gas-at-the-price-of-the-moment',
    'relay 2: totalQuota is available plus used quota; that it stays the same is not shown',
    ({ quota, totalQuota }) => {
      const price = 1 + 0.02 * Math.sin(Date.now() / 700)
      return { quota: Math.floor(quota * price), totalQuota: Math.floor(totalQuota * price) }
    },
  ),
  // Debatable: available and used quota make the total to a million gas.
  telling(
    'rounds-gas-to-a-million',
    'relay 2: quota is a number; how exact it is, is not shown',
    ({ quota }) => ({ quota: Math.floor(quota / 1_000_000) * 1_000_000 }),
    { untestable: ['relay.quota.total-is-available-plus-used'] },
  ),

  showsOld('some-seconds-ago', 2000),
  // Debatable: no sentence says by when a use is booked.
  showsOld('a-minute-ago', 60_000),

  defineLawful({
    id: 'has-used-its-quota-up',
    clauses: ['relay.execute.post', ...clauses],
    allowedBy: 'relay 8: "the behavior of /execute when the quota is exhausted: not shown"',
    // Without an execution, no check of executions can judge.
    untestable: executions,
    execute: async () => respond(403, { message: 'Quota exceeded' }),
    async quota(request, forward) {
      const response = await forward(request)
      return response.status === 200 ? respond(200, { ...(response.json as object), quota: 0 }) : response
    },
  }),
  defineLawful({
    id: 'uses-its-quota-up-after-twenty-calls',
    clauses: ['relay.execute.post', 'relay.execute.repeat', ...clauses],
    allowedBy: 'relay 8: "the behavior of /execute when the quota is exhausted: not shown"',
    untestable: executions,
    environment: {
      server: {
        quota: {
          plans: { default: { model: 'pay-as-you-go-transaction-count', options: { initialTransactions: 20 } } },
        },
      },
    },
  }),
]
