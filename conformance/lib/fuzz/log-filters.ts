import type { Arbitrary } from 'fast-check'
import type { CheckContext } from '../context.ts'
import { emitterLogs, logsBetween } from '../eth-rpc/emitter-logs.ts'
import type { KnownFilter } from '../eth-rpc/known-filters.ts'
import type { Log } from '../eth-rpc/logs.ts'
import { numberOf, quantity } from '../eth-rpc/quantity.ts'
import { sampleAddress } from '../eth-rpc/samples.ts'

/** What a position of `topics` asks for. */
type Wanted = null | string | readonly string[]

function topicsOf(log: Log): readonly string[] {
  const { topics } = log
  return Array.isArray(topics) ? topics.filter((topic): topic is string => typeof topic === 'string') : []
}

function matches(log: Log, wanted: readonly Wanted[]): boolean {
  const topics = topicsOf(log)
  return wanted.every((want, position) => {
    if (want === null) return topics.length > position
    const found = topics[position]
    return found !== undefined && (typeof want === 'string' ? want === found : want.includes(found))
  })
}

type Form = 'any' | 'one' | 'several'

/** What a position asks for, so that the first log is selected: any value, its own, or its own among others. */
function wantedAt(position: number, form: Form, [log, ...others]: readonly Log[]): Wanted {
  const own = topicsOf(log ?? {})[position]
  if (form === 'any' || own === undefined) return null
  if (form === 'one') return own
  return [...others.flatMap((other) => topicsOf(other)[position] ?? []), own]
}

/** Random filters over the seeded logs, each of which selects at least one, found by reading the chain's logs. */
export async function logFilters(t: CheckContext): Promise<Arbitrary<KnownFilter>> {
  const { array, boolean, constantFrom, nat, record } = await import('fast-check')
  const logs = await emitterLogs(t)
  const span = Number(logs.toBlock - logs.fromBlock)
  const choice = record({
    picked: array(nat(logs.all.length - 1), { minLength: 1, maxLength: 3 }),
    before: nat(span),
    after: nat(span),
    isOneOfMany: boolean(),
    forms: array(constantFrom<Form>('any', 'one', 'several'), { maxLength: 2 }),
  })
  return choice.map(({ picked, before, after, isOneOfMany, forms }) => {
    const chosen: Log[] = picked.flatMap((index) => (logs.all[index] ? [logs.all[index]] : []))
    const block = numberOf(chosen[0]?.['blockNumber']) ?? logs.fromBlock
    const fromBlock = max(logs.fromBlock, block - BigInt(before))
    const toBlock = -max(-logs.toBlock, -block - BigInt(after))
    const topics = forms.map((form, position) => wantedAt(position, form, chosen))
    return {
      filter: {
        address: isOneOfMany ? [sampleAddress, logs.emitter] : logs.emitter,
        fromBlock: quantity(fromBlock),
        toBlock: quantity(toBlock),
        ...(topics.length > 0 ? { topics } : {}),
      },
      truth: logsBetween(logs, fromBlock, toBlock).filter((log) => matches(log, topics)),
    }
  })
}

function max(a: bigint, b: bigint): bigint {
  return a > b ? a : b
}
