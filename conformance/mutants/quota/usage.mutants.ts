import { keepsBooks } from '../../altered/lib/quota.ts'
import { type AlteredRequest, defineMutant, respond } from '../../altered/define.ts'
import { alterAnswer, requestObject } from '../../altered/lib/relay.ts'

const totalGas = 20_000_000n
const books = keepsBooks({ total: totalGas, unit: 'gas', cost: ({ gasUsed }) => gasUsed })

function isInLowerCase(request: AlteredRequest): boolean {
  const { address } = requestObject(request)
  return typeof address === 'string' && address === address.toLowerCase()
}

export default [
  defineMutant({
    clause: 'relay.quota.total-is-available-plus-used',
    fault: 'quota stays as it is, whatever is used',
    async quota(request, forward, { memory }) {
      const response = await forward(request)
      const answer = (response.json ?? {}) as Record<string, unknown>
      if (!('quota' in answer)) return response
      const quota = memory.get('quota') ?? answer['quota']
      memory.set('quota', quota)
      return respond(200, { ...answer, quota })
    },
  }),

  defineMutant({
    clause: 'relay.quota.total-is-available-plus-used',
    name: 'below',
    fault: 'totalQuota is below quota',
    quota: alterAnswer('quota', (answer) => ({ ...answer, totalQuota: Number(answer['quota']) - 1 })),
  }),

  defineMutant({
    clause: 'relay.quota.total-is-available-plus-used',
    name: 'falling',
    fault: 'totalQuota falls with quota',
    quota: alterAnswer('quota', (answer) => ({ ...answer, totalQuota: answer['quota'] })),
  }),

  defineMutant({
    clause: 'relay.quota.total-is-available-plus-used',
    name: 'used',
    fault: 'quota is what was used',
    quota: alterAnswer('quota', (answer) => ({
      ...answer,
      quota: Number(answer['totalQuota']) - Number(answer['quota']),
    })),
  }),

  defineMutant({
    clause: 'relay.quota.total-is-available-plus-used',
    name: 'count-by-gas',
    fault: 'a quota of transactions falls by gas',
    ...keepsBooks({ total: 1_000_000_000n, unit: 'transactionCount', cost: ({ gasUsed }) => gasUsed }),
  }),

  defineMutant({
    clause: 'relay.quota.total-is-available-plus-used',
    name: 'used-after-a-reservation',
    fault: 'quota is what was used, beside a reservation that is released',
    ...keepsBooks({
      total: 20_000_000n,
      unit: 'gas',
      cost: ({ gasUsed }) => gasUsed,
      reserve: 5_000_000n,
      bookedAfterMs: 1000,
      alter: ({ quota, totalQuota, ...answer }) => ({
        ...answer,
        quota: BigInt(totalQuota as bigint) - BigInt(quota as bigint),
        totalQuota,
      }),
    }),
  }),

  defineMutant({
    clause: 'relay.quota.total-is-available-plus-used',
    name: 'coins-by-wei',
    fault: 'a quota of lyx falls by as many coins as wei were used',
    ...keepsBooks({
      total: 10n ** 30n,
      unit: 'lyx',
      cost: ({ gasUsed, priceWei }) => gasUsed * priceWei,
    }),
  }),

  defineMutant({
    clause: 'relay.quota.total-is-available-plus-used',
    name: 'gas-by-count',
    fault: 'a quota of gas falls by one for a transaction',
    ...keepsBooks({ total: 20_000_000n, unit: 'gas', cost: () => 1n }),
  }),

  defineMutant({
    clause: 'relay.quota.total-is-available-plus-used',
    name: 'rises',
    fault: 'quota rises by what is used',
    ...keepsBooks({ total: 20_000_000n, unit: 'gas', cost: ({ gasUsed }) => -gasUsed }),
  }),

  defineMutant({
    clause: 'relay.quota.total-is-available-plus-used',
    name: 'released-and-never-booked',
    fault: 'what is reserved is given back, and nothing is booked',
    ...keepsBooks({ total: 20_000_000n, unit: 'gas', cost: () => 0n, reserve: 5_000_000n, bookedAfterMs: 3000 }),
  }),

  defineMutant({
    clause: 'relay.quota.total-is-available-plus-used',
    name: 'rounded',
    fault: 'quota beyond 2^53 is rounded, so that what is used does not show',
    ...keepsBooks({
      total: 10n ** 24n,
      unit: 'gas',
      cost: ({ gasUsed }) => gasUsed,
      show: (amount) => BigInt(Number(amount)),
    }),
  }),

  defineMutant({
    clause: 'relay.quota.total-is-available-plus-used',
    name: 'given-back',
    fault: 'what was used is given back after five seconds, long before the reset',
    whole: true,
    ...keepsBooks({
      total: 20_000_000n,
      unit: 'gas',
      cost: () => 0n,
      reserve: 80_000n,
      bookedAfterMs: 5000,
    }),
  }),

  defineMutant({
    clause: 'relay.quota.total-is-available-plus-used',
    name: 'free-in-lower-case',
    fault: 'calls that name the profile in lower case are charged to nobody',
    execute: (request, forward, tools) =>
      isInLowerCase(request) ? forward(request) : books.execute(request, forward, tools),
    quota: books.quota,
  }),

  defineMutant({
    clause: 'relay.quota.total-is-available-plus-used',
    name: 'another-in-lower-case',
    fault: 'the profile in lower case has an account of its own, of which nothing is used',
    execute: books.execute,
    async quota(request, forward, tools) {
      const response = await books.quota(request, forward, tools)
      if (response.status !== 200 || !isInLowerCase(request)) return response
      return respond(200, { ...(response.json as object), quota: Number(totalGas) })
    },
  }),

  defineMutant({
    clause: 'relay.quota.total-is-available-plus-used',
    name: 'total-rises',
    fault: 'totalQuota rises by what is used, and quota stays',
    ...keepsBooks({
      total: 20_000_000n,
      unit: 'gas',
      cost: ({ gasUsed }) => gasUsed,
      alter: ({ quota, totalQuota, ...answer }) => ({
        ...answer,
        quota: totalQuota,
        totalQuota: 2n * BigInt(totalQuota as bigint) - BigInt(quota as bigint),
      }),
    }),
  }),
]
