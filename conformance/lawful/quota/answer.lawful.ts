import { defineLawful, type Lawful } from '../../altered/define.ts'
import { nowSeconds } from '../../altered/lib/quota.ts'
import { alterAnswer } from '../../altered/lib/relay.ts'
import { NumberLiteral } from '../../lib/lossless-json.ts'

type QuotaAnswer = Readonly<Record<string, unknown>>

const day = 86_400

function answering(
  id: string,
  allowedBy: string,
  clauses: Lawful['clauses'],
  alter: (answer: QuotaAnswer) => QuotaAnswer,
  more: Partial<Lawful> = {},
): Lawful {
  return defineLawful({ id, clauses, allowedBy, quota: alterAnswer('quota', alter), ...more })
}

/** Adds to amounts so that no double holds them, and writes all of their digits. */
function more(answer: QuotaAnswer, offset: bigint): QuotaAnswer {
  const grown = (amount: unknown) => BigInt(amount as number) + offset
  return { ...answer, quota: grown(answer['quota']), totalQuota: grown(answer['totalQuota']) }
}

/** A plan of the reference server's configuration. */
function plan(model: string, options: object): Partial<Lawful> {
  return { environment: { server: { quota: { plans: { default: { model, options } } } } } }
}

const noMembers = 'relay 2: totalQuota and resetDate "may be omitted in a pay-as-you-go model"'
const numbers = 'relay 2: quota and totalQuota are numbers; neither their size nor their notation is limited'

export default [
  answering(
    'adds-members-to-the-quota',
    'relay 2 lists the members of the quota response; that nothing else may stand beside them is not shown',
    ['relay.quota.post', 'relay.quota.unit'],
    (answer) => ({ plan: 'gold', used: 12, ...answer, usedQuota: 1.5, resetsIn: null, address: '0x', units: ['gas'] }),
  ),
  answering(
    'orders-members-otherwise',
    'the order of members means nothing in JSON',
    ['relay.quota.post'],
    ({ quota, unit, totalQuota, resetDate }) => ({ resetDate, totalQuota, unit, quota }),
  ),
  answering(
    'pays-as-you-go',
    noMembers,
    ['relay.quota.total-quota', 'relay.quota.reset-date', 'relay.quota.reset-date-future', 'relay.quota.post'],
    ({ quota, unit }) => ({ quota, unit }),
  ),
  answering(
    'omits-the-total-alone',
    noMembers,
    ['relay.quota.total-quota', 'relay.quota.total-is-available-plus-used'],
    ({ totalQuota: _total, ...answer }) => answer,
  ),
  answering(
    'omits-the-reset-date-alone',
    noMembers,
    ['relay.quota.reset-date', 'relay.quota.reset-date-future'],
    ({ resetDate: _date, ...answer }) => answer,
  ),
  answering(
    'resets-in-a-minute',
    'relay 2: resetDate is the date at which the quota resets, for example monthly',
    ['relay.quota.reset-date', 'relay.quota.reset-date-future', 'relay.quota.total-is-available-plus-used'],
    (answer) => ({ ...answer, resetDate: Math.ceil(nowSeconds() / 60) * 60 + 60 }),
  ),
  answering(
    'resets-in-nine-years',
    'relay 2: how far away the reset lies is not shown',
    ['relay.quota.reset-date-future', 'relay.quota.reset-date'],
    (answer) => ({ ...answer, resetDate: nowSeconds() + 9 * 365 * day }),
  ),
  answering(
    'shows-the-reset-that-has-been',
    'relay 2: that resetDate lies ahead is not shown',
    ['relay.quota.reset-date', 'relay.quota.reset-date-future'],
    (answer) => ({ ...answer, resetDate: nowSeconds() - 3 * day }),
    { mayFail: ['relay.quota.reset-date-future'] },
  ),
  answering(
    'counts-the-reset-in-milliseconds',
    'relay 2: resetDate is "integer, timestamp"; its unit is not shown',
    ['relay.quota.reset-date', 'relay.quota.reset-date-future'],
    (answer) => ({ ...answer, resetDate: Number(answer['resetDate']) * 1000 }),
    { mayFail: ['relay.quota.reset-date-future'] },
  ),
  answering(
    'rolls-the-reset-with-each-answer',
    'relay 2: when the quota resets is the model’s matter: here thirty days from now, always',
    ['relay.quota.reset-date', 'relay.quota.reset-date-future', 'relay.quota.total-is-available-plus-used'],
    (answer) => ({ ...answer, resetDate: nowSeconds() + 30 * day }),
  ),
  answering(
    'rolls-the-reset-by-milliseconds',
    'relay 2: when the quota resets is the model’s matter; its unit is not shown',
    ['relay.quota.reset-date', 'relay.quota.total-is-available-plus-used'],
    (answer) => ({ ...answer, resetDate: Date.now() + 30_000 * day }),
    { mayFail: ['relay.quota.reset-date-future'] },
  ),
  answering(
    'has-amounts-beyond-a-double',
    numbers,
    ['relay.quota.quota-number', 'relay.quota.total-quota', 'relay.quota.total-is-available-plus-used'],
    (answer) => more(answer, 10n ** 24n + 1n),
  ),
  answering(
    'has-amounts-of-a-uint256',
    numbers,
    ['relay.quota.quota-number', 'relay.quota.total-quota', 'relay.quota.total-is-available-plus-used'],
    (answer) => more(answer, 2n ** 255n),
  ),
  answering(
    'writes-amounts-as-decimals',
    numbers,
    ['relay.quota.quota-number', 'relay.quota.total-quota', 'relay.quota.total-is-available-plus-used'],
    (answer) => ({
      ...answer,
      quota: new NumberLiteral(`${String(answer['quota'])}.0`),
      totalQuota: new NumberLiteral(`${String(answer['totalQuota'])}.00`),
    }),
  ),
  answering(
    'writes-amounts-in-exponents',
    numbers,
    ['relay.quota.quota-number', 'relay.quota.total-quota', 'relay.quota.total-is-available-plus-used'],
    (answer) => ({
      ...answer,
      quota: new NumberLiteral(`${String(answer['quota'])}000e-3`),
      totalQuota: new NumberLiteral(`${String(answer['totalQuota'])}.0E+0`),
    }),
  ),
  answering(
    'has-fractions-of-a-unit',
    numbers,
    ['relay.quota.quota-number', 'relay.quota.total-quota', 'relay.quota.total-is-available-plus-used'],
    (answer) => ({
      ...answer,
      quota: new NumberLiteral(`${String(answer['quota'])}.123456789012345678`),
      totalQuota: new NumberLiteral(`${String(answer['totalQuota'])}.123456789012345678`),
    }),
  ),
  answering(
    'has-a-total-far-above',
    'relay 2: totalQuota is "equal to available plus used": of use before the run as well',
    ['relay.quota.total-is-available-plus-used'],
    (answer) => ({ ...answer, totalQuota: Number(answer['totalQuota']) * 3 }),
  ),

  answering(
    'nests-members-of-the-same-names',
    'relay 2 lists the members of the quota response; what stands beside them, and within, is not shown',
    ['relay.quota.quota-number', 'relay.quota.total-is-available-plus-used', 'relay.quota.unit'],
    (answer) => ({
      plan: { quota: '0', unit: 'wei', totalQuota: 1, resetDate: null, transactionHash: '0x' },
      ...answer,
      plans: [{ quota: 0, totalQuota: -1 }],
      ['__proto__']: null,
      toString: 1,
      constructor: { name: 'Quota' },
    }),
  ),
  answering(
    'adds-numbers-that-no-double-holds',
    'relay 2 lists the members of the quota response; what stands beside them is not shown',
    ['relay.quota.post', 'relay.quota.quota-number'],
    (answer) => ({
      ...answer,
      most: new NumberLiteral('1e999'),
      least: new NumberLiteral('-0'),
      digits: new NumberLiteral(`0.${'123456789'.repeat(20)}`),
    }),
  ),
  answering(
    'pads-its-answers-with-two-megabytes',
    'relay 2 and 8: no size of an answer is shown',
    ['relay.quota.post'],
    (answer) => ({ padding: 'x'.repeat(2_000_000), ...answer }),
  ),
  answering(
    'writes-member-names-in-escapes',
    'a letter and its escape are the same in JSON',
    ['relay.quota.post', 'relay.quota.quota-number'],
    (answer) => answer,
    {
      async quota(request, forward) {
        const response = await forward(request)
        const text = response.text.replaceAll('"quota"', '"\\u0071uota"').replaceAll('"unit"', '"\\u0075nit"')
        return response.status === 200 ? { ...response, text } : response
      },
    },
  ),
  answering(
    'resets-at-zero',
    'relay 2: resetDate is "integer, timestamp"; which one says that there is no reset is not shown',
    ['relay.quota.reset-date', 'relay.quota.total-is-available-plus-used'],
    (answer) => ({ ...answer, resetDate: 0 }),
    { mayFail: ['relay.quota.reset-date-future'] },
  ),

  defineLawful({
    id: 'counts-transactions',
    clauses: ['relay.quota.unit', 'relay.quota.total-is-available-plus-used'],
    allowedBy: 'relay 2: unit is one of gas, lyx, transactionCount',
    ...plan('transaction-count', { transactionsPerPeriod: 100_000 }),
  }),
  defineLawful({
    id: 'counts-lyx',
    clauses: ['relay.quota.unit', 'relay.quota.total-is-available-plus-used', 'relay.quota.quota-number'],
    allowedBy: 'relay 2: unit is one of gas, lyx, transactionCount',
    ...plan('lyx', { weiPerPeriod: String(10n ** 24n) }),
  }),
  defineLawful({
    id: 'counts-gas-as-you-go',
    clauses: ['relay.quota.total-quota', 'relay.quota.reset-date', 'relay.quota.total-is-available-plus-used'],
    allowedBy: noMembers,
    ...plan('pay-as-you-go-gas', { initialGas: 10 ** 12 }),
  }),
  defineLawful({
    id: 'counts-lyx-as-you-go',
    clauses: ['relay.quota.total-quota', 'relay.quota.reset-date', 'relay.quota.total-is-available-plus-used'],
    allowedBy: noMembers,
    ...plan('pay-as-you-go-lyx', { initialWei: String(10n ** 24n) }),
  }),
  defineLawful({
    id: 'counts-transactions-as-you-go',
    clauses: ['relay.quota.total-quota', 'relay.quota.reset-date', 'relay.quota.total-is-available-plus-used'],
    allowedBy: noMembers,
    ...plan('pay-as-you-go-transaction-count', { initialTransactions: 100_000 }),
  }),
]
